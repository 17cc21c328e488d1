// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.ucx.binding.UcxBinding;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One thread wakes the owners of several streams at its exit from the engine; one of them fails.
 */
@Timeout(60)
class WakeUpTest {
  @BeforeEach
  void possible() {
    assumeTrue(Variant.possible(), "no UCX here");
  }

  private static final class Owner extends FakeOwner {
    private final String name;
    private final List<String> woken;
    private final boolean fails;

    Owner(String name, List<String> woken, boolean fails) {
      this.name = name;
      this.woken = woken;
      this.fails = fails;
    }

    @Override
    public void wake() {
      woken.add(name);
      if (fails) {
        throw new InternalError(name);
      }
    }
  }

  @Test
  void anOwnerThatFailsKeepsNobodyAsleep() throws Exception {
    UcxBinding binding = Started.binding();
    Engine engine = new Engine(binding, new ProgressThread(binding));
    List<String> woken = new ArrayList<>();
    engine.enter();
    engine.wake(new Owner("first", woken, false));
    engine.wake(new Owner("fails", woken, true));
    engine.wake(new Owner("fails too", woken, true));
    engine.wake(new Owner("last", woken, false));
    assertThatThrownBy(engine::exit).isInstanceOf(InternalError.class);
    assertThat(woken).containsExactlyInAnyOrder("first", "fails", "fails too", "last");
    engine.enter(); // and nobody is left inside
    engine.exit();
    engine.worker().close();
  }

  @Test
  void anEngineThatFailsKeepsNoOtherFromBeingLookedAfter() throws Exception {
    UcxBinding binding = Started.binding();
    ProgressThread progressThread = new ProgressThread(binding);
    Engine broken = new Engine(binding, progressThread);
    broken.worker().close();
    Engine sound = new Engine(binding, progressThread);
    progressThread.add(broken);
    progressThread.add(sound);
    // It is armed, and watched, as soon as it has been looked after in peace.
    while (progressThread.events().add(sound)) {
      progressThread.events().remove(sound);
      progressThread.stir();
      Thread.onSpinWait();
    }
    sound.worker().close();
  }
}

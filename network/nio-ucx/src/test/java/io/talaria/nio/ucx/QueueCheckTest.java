// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.ucx.Itself.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** UCX refuses the probe of one engine: the others are checked, and that one is later. */
@Timeout(60)
class QueueCheckTest {
  @Test
  void aProbeThatIsRefusedIsTriedAgainAndKeepsNoOtherBack() throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    UcxBinding binding = Started.binding();
    ProgressThread progressThread = new ProgressThread(binding);
    Engine first = new Engine(binding, progressThread);
    Engine second = new Engine(binding, progressThread);
    List<Engine> engines = List.of(first, second);
    AtomicInteger refusals = new AtomicInteger();
    FailingBinding failing = new FailingBinding(binding);
    failing.on(
        "connect",
        call -> {
          if (refusals.getAndIncrement() == 0) {
            throw new BindingException("not this time", null);
          }
          return call.proceed();
        });
    QueueCheck check = new QueueCheck(failing.binding);
    check.request();
    assertThat(check.look(engines)).as("when again").isNotEqualTo(Engine.Need.NOTHING);
    assertThat(refusals).hasValue(2);
    until(() -> look(check, engines) && probe(second) == 1);
    until(() -> look(check, engines) && probe(first) == 1);
    until(() -> check.look(engines) == Engine.Need.NOTHING);
    assertThat(refusals).hasValue(3);
    first.worker().close();
    second.worker().close();
  }

  private static boolean look(QueueCheck check, List<Engine> engines) {
    Engine.Need ignored = check.look(engines);
    return true;
  }

  private static long probe(Engine engine) {
    engine.enter();
    try {
      return engine.probe();
    } finally {
      engine.exit();
    }
  }
}

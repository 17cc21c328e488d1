// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Threads that do nothing but progress leave the JVM its safepoints. */
@ExtendWith(NeedsUcx.class)
@Timeout(60)
class SafepointTest {
  private final CountDownLatch compiled = new CountDownLatch(1);

  @Test
  void aThreadThatProgressesForEverHoldsNobodyUp() throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread spinning = new Thread(() -> spin(failure), "spinning");
    spinning.setDaemon(true);
    spinning.start();
    Thread stopping = new Thread(SafepointTest::stopTheWorld, "stopping");
    stopping.setDaemon(true);
    assertThat(compiled.await(30, TimeUnit.SECONDS)).isTrue();
    Thread.sleep(1000); // until it is inside for good
    stopping.start();
    stopping.join(20_000);
    assertThat(failure.get()).isNull();
    assertThat(stopping.isAlive()).isFalse();
  }

  private void spin(AtomicReference<Throwable> failure) {
    try (Context context = Pair.context(Feature.TAG);
        Worker worker = Worker.open(context, Worker.Options.defaults());
        Arena arena = Arena.ofConfined()) {
      long never = worker.receiveTag(arena.allocate(8), 0, 8, 1, -1);
      // Compiles it, by its inner loop and, by calls, as a whole.
      for (int i = 0; i < 20_000; i++) {
        worker.await(never, 50_000);
      }
      compiled.countDown();
      worker.await(never, 40_000_000_000L);
    } catch (RuntimeException | Error e) {
      failure.set(e);
    }
  }

  private static void stopTheWorld() {
    for (int i = 0; i < 20; i++) {
      System.gc();
      Arena.ofShared().close();
    }
  }
}

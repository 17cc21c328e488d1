// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NeedsUcx.class)
@Timeout(60)
class WakeUpTest {
  @Test
  void aMessageWakesTheSleeper() {
    try (Pair pair = new Pair(ErrorHandling.PEER, Feature.STREAM, Feature.WAKEUP);
        Arena arena = Arena.ofConfined()) {
      pair.wireUpStreams();
      sleepDeep(pair.right);
      MemorySegment one = arena.allocate(1);
      assertThat(pair.finish(pair.left, pair.toRight.sendStream(one, 0, 1, 0))).isZero();
      assertThat(pair.right.awaitEvent(10_000)).isTrue();
      StreamChunk chunk = new StreamChunk();
      pair.until(() -> pair.toLeft.receiveStream(chunk) > 0);
      chunk.release();
    }
  }

  @Test
  void anyThreadWakesTheSleeperBySignal() throws Exception {
    try (Pair pair = new Pair(ErrorHandling.PEER, Feature.STREAM, Feature.WAKEUP)) {
      Worker sleeper = pair.right;
      // UCX's timer for the liveness of peers is an event as well, once a second.
      Pair.until(
          () -> {
            sleepDeep(sleeper);
            return !sleeper.awaitEvent(50);
          },
          sleeper::progress);
      CompletableFuture.runAsync(sleeper::signal).get(10, TimeUnit.SECONDS);
      assertThat(sleeper.awaitEvent(10_000)).isTrue();
      sleepDeep(sleeper);
      CompletableFuture<Void> signal =
          CompletableFuture.runAsync(
              sleeper::signal, CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));
      sleeper.awaitEvent();
      signal.get(10, TimeUnit.SECONDS);
      pair.left.close();
      sleeper.close();
      sleeper.signal();
    }
  }

  /** Progresses until there is nothing to progress and the worker is armed. */
  private static void sleepDeep(Worker worker) {
    assertThat(worker.eventDescriptor()).isPositive().isEqualTo(worker.eventDescriptor());
    Pair.until(worker::arm, worker::progress);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a search begins that a connection has to earn: with the last message it takes, once. */
@Timeout(120)
class EarningTest {
  private static final int ROUNDS = 3000;
  private static final long DEADLINE_S = 60;

  private final AtomicInteger begun = new AtomicInteger();

  private Earning after(int messages) {
    return new Earning(messages, begun::incrementAndGet);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void readsBeginIt(int messages) {
    Earning earning = after(messages);
    for (int i = 1; i < messages; i++) {
      assertThat(earning.read()).isFalse();
    }
    assertThat(earning.earned()).isFalse();
    assertThat(begun).hasValue(0);
    assertThat(earning.read()).isTrue();
    assertThat(earning.earned()).isTrue();
    assertThat(begun).hasValue(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void writesBeginIt(int messages) {
    Earning earning = after(messages);
    for (int i = 1; i < messages; i++) {
      assertThat(earning.written()).isFalse();
    }
    assertThat(begun).hasValue(0);
    assertThat(earning.written()).isTrue();
    assertThat(begun).hasValue(1);
  }

  @Test
  void readsAndWritesCountTogether() {
    Earning earning = after(3);
    assertThat(earning.written()).isFalse();
    assertThat(earning.read()).isFalse();
    assertThat(earning.written()).isTrue();
    assertThat(begun).hasValue(1);
  }

  @Test
  void eachSideLearnsThatNothingIsToBeCountedAnyMore() {
    Earning earning = after(1);
    assertThat(earning.read()).isTrue();
    assertThat(earning.written()).isTrue();
    assertThat(earning.written()).isTrue();
    assertThat(begun).hasValue(1);
  }

  @Test
  void itSaysWhatItTakes() {
    assertThat(after(1)).hasToString("upgrade after 1 read or write");
    assertThat(after(1_000_000)).hasToString("upgrade after 1000000 reads and writes");
  }

  /** Each of the two counts its last message at the same time as the other. */
  @Test
  void aReaderAndAWriterBeginItOnceBetweenThem() throws Exception {
    CyclicBarrier barrier = new CyclicBarrier(2);
    Earning[] now = {null};
    FutureTask<Void> writer =
        new FutureTask<>(
            () -> {
              for (int round = 0; round < ROUNDS; round++) {
                barrier.await(DEADLINE_S, TimeUnit.SECONDS);
                pause(round % 7);
                now[0].written();
                barrier.await(DEADLINE_S, TimeUnit.SECONDS);
              }
              return null;
            });
    Thread thread = new Thread(writer, "writer");
    thread.setDaemon(true);
    thread.start();
    for (int round = 0; round < ROUNDS; round++) {
      begun.set(0);
      now[0] = after(2);
      barrier.await(DEADLINE_S, TimeUnit.SECONDS);
      pause(round % 5);
      now[0].read();
      barrier.await(DEADLINE_S, TimeUnit.SECONDS);
      assertThat(begun).as("searches in round " + round).hasValue(1);
    }
    writer.get(DEADLINE_S, TimeUnit.SECONDS);
  }

  private static void pause(int turns) {
    for (int i = 0; i < turns * 10; i++) {
      Thread.onSpinWait();
    }
  }
}

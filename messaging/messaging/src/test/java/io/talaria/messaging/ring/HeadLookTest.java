// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a producer takes for an impossible head, while others claim and the consumer frees. */
@Timeout(120)
class HeadLookTest {
  private static final int CAPACITY = RingLayout.MIN_CAPACITY;
  private static final int RECORD = 256;
  private static final long RECORDS = 200_000L * (CAPACITY / RECORD);
  private static final int LOOKERS = 4;

  @Test
  void aRingThatPassesBetweenTwoReadsIsNoViolation() throws Exception {
    MemorySegment memory = Rings.at(CAPACITY, 0);
    RingProducer out = new RingProducer(memory, CAPACITY);
    RingConsumer in = new RingConsumer(memory, CAPACITY);
    AtomicReference<Throwable> failed = new AtomicReference<>();
    List<Thread> lookers = new ArrayList<>();
    Thread traffic = new Thread(() -> pass(out, in, failed));
    for (int i = 0; i < LOOKERS; i++) { // more than cores, so that they lose theirs anywhere
      lookers.add(
          new Thread(
              () -> {
                try {
                  while (traffic.isAlive() && failed.get() == null) {
                    out.unconsumedBytes();
                  }
                } catch (Throwable e) {
                  failed.compareAndSet(null, e);
                }
              }));
    }
    traffic.start();
    lookers.forEach(Thread::start);
    traffic.join();
    for (Thread each : lookers) {
      each.join();
    }
    assertThat(failed.get()).isNull();
  }

  private static void pass(RingProducer out, RingConsumer in, AtomicReference<Throwable> failed) {
    try {
      for (long i = 0; i < RECORDS && failed.get() == null; i++) {
        long claim = out.tryClaim(RECORD);
        if (claim >= 0) {
          out.commit(claim, RECORD);
        }
        while (in.peek() != 0) {
          in.advance();
        }
        in.publish();
      }
    } catch (Throwable e) {
      failed.compareAndSet(null, e);
    }
  }

  @Test
  void aHeadBeyondWhatWasClaimedIsOne() {
    MemorySegment memory = Rings.at(CAPACITY, 0);
    RingProducer out = new RingProducer(memory, CAPACITY);
    out.commit(out.tryClaim(RECORD), RECORD);
    long head = RingLayout.word((2L * RECORD) >>> RingLayout.UNIT_SHIFT);
    RingLayout.LONG.set(memory, (long) RingLayout.HEAD, head);
    assertThatThrownBy(out::unconsumedBytes)
        .isInstanceOf(RingBrokenException.class)
        .hasMessageContaining("head is " + Long.toHexString(head));
  }
}

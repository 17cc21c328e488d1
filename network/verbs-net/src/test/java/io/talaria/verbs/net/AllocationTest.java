// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.ThreadMXBean;
import io.talaria.verbs.Access;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Nothing is allocated for a message or an operation, on any thread that takes part. */
@ExtendWith(Provider.class)
@Timeout(300)
class AllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int ATTEMPTS = 20;
  private static final int ROUNDS = Provider.isDevice() ? 500 : 20_000;

  /**
   * What compiling and classes of other kinds may cost once; an operation would do it each time.
   */
  private static final long SLACK_BYTES = 64 << 10;

  /**
   * With the first compiler alone a call that sleeps or wakes makes an object that the second one
   * finds out nobody keeps: that is no statement on this library.
   */
  @BeforeEach
  void needsTheSecondCompiler() {
    HotSpotDiagnosticMXBean hotSpot =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    assumeFalse(
        hotSpot.getVMOption("TieredStopAtLevel").getValue().equals("1"),
        "this JVM has the first compiler only");
  }

  /** All threads of the nodes, and this one. */
  private static long allocated() {
    long sum = THREADS.getCurrentThreadAllocatedBytes();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread instanceof NetThread) {
        sum += THREADS.getThreadAllocatedBytes(thread.threadId());
      }
    }
    return sum;
  }

  /** Until the compiler is at rest, a round may allocate what compiled code does not. */
  private static void measure(Runnable once) {
    long least = Long.MAX_VALUE;
    for (int attempt = 0; attempt < ATTEMPTS && least >= SLACK_BYTES; attempt++) {
      long before = allocated();
      for (int i = 0; i < ROUNDS; i++) {
        once.run();
      }
      least = Math.min(least, allocated() - before);
    }
    assertThat(least).as("bytes for %d operations", ROUNDS).isLessThan(SLACK_BYTES);
  }

  @Test
  void messagesThereAndBackAllocateNothing() throws Exception {
    AtomicLong answered = new AtomicLong();
    try (Pair pair = new Pair(Pair.options(), (c, m) -> Pair.answer(c, m.longAt(0)))) {
      Connection connection = pair.connect((c, m) -> answered.setRelease(m.longAt(0)));
      long[] count = new long[1];
      measure(
          () -> {
            Slice slice = connection.borrow();
            long word = ++count[0];
            slice.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, word);
            while (connection.send(slice, 8) != Connection.SENT) {
              Thread.yield(); // the answer may be here before the credit of its request
            }
            while (answered.getAcquire() != word) {
              Thread.onSpinWait();
            }
          });
      assertThat(pair.left.metrics().sleeps()).isPositive();
    }
  }

  @Test
  void operationsOnRemoteMemoryAllocateNothing() throws Exception {
    try (Pair pair = new Pair(Pair.options(), (c, m) -> {})) {
      Connection connection = pair.connect((c, m) -> {});
      RegisteredMemory there =
          pair.right.allocate(4096, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
      RegisteredMemory here = pair.left.allocate(4096);
      RemoteMemory remote = there.handle();
      AtomicLong done = new AtomicLong();
      OperationListener listener = (c, token, status) -> done.setRelease(status == 0 ? token : -1);
      long[] count = new long[1];
      measure(
          () -> {
            long token = ++count[0];
            int result =
                switch ((int) token & 3) {
                  case 0 -> connection.read(remote, 0, here, 0, 64, token, listener);
                  case 1 -> connection.write(remote, 64, here, 64, 64, token, listener);
                  case 2 -> connection.fetchAdd(remote, 128, 1, here, 128, token, listener);
                  default -> connection.compareSwap(remote, 136, 0, 0, here, 136, token, listener);
                };
            if (result != Connection.SENT) {
              throw new AssertionError("no room");
            }
            while (done.getAcquire() != token) {
              Thread.onSpinWait();
            }
          });
    }
  }
}

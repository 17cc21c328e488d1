// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Posting and polling allocate nothing. */
@ExtendWith(Variant.class)
class AllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /**
   * A method compiled in between may allocate once; an operation that did would do it each time.
   */
  private static final long SLACK_BYTES = 4096;

  private static final int ROUNDS = Variant.isDevice() ? 1000 : 50_000;

  @Test
  void messagesAllocateNothing() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      Runnable once =
          () -> {
            pair.right.receive.request(0).id(1).local(pair.right.region, 0, 64);
            must(pair.right.queuePair.post(pair.right.receive, 0, 1));
            pair.left.send.sendImmediate(0, 3).id(2).local(pair.left.region, 0, 8).signaled();
            must(pair.left.queuePair.post(pair.left.send, 0, 1));
            take(pair.left);
            take(pair.right);
          };
      assertThat(allocated(once)).isLessThan(SLACK_BYTES);
    }
  }

  @Test
  void remoteMemoryAllocatesNothing() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      long address = pair.right.region.remoteAddress();
      int key = pair.right.region.remoteKey();
      Runnable once =
          () -> {
            pair.left.send.write(0).id(1).local(pair.left.region, 0, 64).remote(address, key);
            pair.left.send.read(1).id(2).local(pair.left.region, 0, 64).remote(address, key);
            pair.left
                .send
                .fetchAdd(2, 1)
                .id(3)
                .local(pair.left.region, 0, 8)
                .remote(address, key)
                .signaled();
            must(pair.left.queuePair.post(pair.left.send, 0, 3));
            take(pair.left);
          };
      assertThat(allocated(once)).isLessThan(SLACK_BYTES);
    }
  }

  @Test
  void extendedCallsAllocateNothing() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      long address = pair.right.region.remoteAddress();
      int key = pair.right.region.remoteKey();
      ExtendedQueuePair left = pair.left.extended();
      Runnable once =
          () -> {
            left.start();
            left.id(1, true);
            left.write(key, address);
            left.piece(pair.left.region, 0, 8);
            must(left.complete());
            take(pair.left);
          };
      assertThat(allocated(once)).isLessThan(SLACK_BYTES);
    }
  }

  private static void must(int status) {
    if (status != 0) {
      throw new VerbsException(status, "post");
    }
  }

  private static void take(Pair.Side side) {
    while (side.queue.poll(side.done) == 0) {
      Thread.onSpinWait();
    }
    if (side.done.status(0) != Status.SUCCESS) {
      throw new AssertionError(Status.text(side.done.status(0)));
    }
  }

  private static long allocated(Runnable once) {
    for (int i = 0; i < ROUNDS; i++) {
      once.run();
    }
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < ROUNDS; i++) {
      once.run();
    }
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }
}

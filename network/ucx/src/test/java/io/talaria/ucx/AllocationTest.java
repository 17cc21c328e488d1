// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The data path allocates nothing once it is warm. */
@ExtendWith(NeedsUcx.class)
@Timeout(120)
class AllocationTest {
  private static final int WARM = 60_000;
  private static final int MEASURED = 20_000;

  /** What the measuring itself, or a late compilation, may cost in all. */
  private static final long SLACK_BYTES = 4_000;

  @Test
  void streamsAllocateNothing() {
    try (Pair pair = new Pair(ErrorHandling.PEER, Feature.STREAM);
        Arena arena = Arena.ofConfined()) {
      pair.wireUpStreams();
      StreamPing ping = new StreamPing(pair, arena.allocate(64));
      assertThat(allocatedBy(ping)).isLessThan(SLACK_BYTES);
    }
  }

  @Test
  void messagesByTagAllocateNothing() {
    try (Pair pair = new Pair(ErrorHandling.PEER, Feature.TAG);
        Arena arena = Arena.ofConfined()) {
      TagPing ping = new TagPing(pair, arena.allocate(64));
      assertThat(allocatedBy(ping)).isLessThan(SLACK_BYTES);
    }
  }

  static long allocatedBy(Runnable ping) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    assumeTrue(threads.isThreadAllocatedMemorySupported(), "the JVM counts no allocation");
    for (int i = 0; i < WARM; i++) {
      ping.run();
    }
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 5; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < MEASURED; i++) {
        ping.run();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  /** Eight bytes from left to right, found by poll. */
  private static final class StreamPing implements Runnable {
    private final Pair pair;
    private final MemorySegment buffer;
    private final StreamChunk chunk = new StreamChunk();
    private final Endpoint[] ready = new Endpoint[4];

    StreamPing(Pair pair, MemorySegment buffer) {
      this.pair = pair;
      this.buffer = buffer;
    }

    @Override
    public void run() {
      long send = pair.toRight.sendStream(buffer, 0, 8, SendFlags.ALWAYS_REQUEST);
      int found;
      while ((found = pair.right.pollStreams(ready)) == 0) {
        pair.progress();
      }
      for (int i = 0; i < found; i++) {
        if (ready[i].receiveStream(chunk) > 0) {
          buffer.set(ValueLayout.JAVA_LONG, 8, chunk.longAt(0));
          chunk.copyTo(0, buffer, 16, 8);
          chunk.release();
        }
      }
      while (pair.left.poll(send) == Status.IN_PROGRESS) {
        pair.progress();
      }
    }
  }

  /** Eight bytes from left to right by tag. */
  private record TagPing(Pair pair, MemorySegment buffer) implements Runnable {
    @Override
    public void run() {
      long receive = pair.right.receiveTag(buffer, 8, 8, 1, -1);
      long send = pair.toRight.sendTag(buffer, 0, 8, 1, SendFlags.ALWAYS_REQUEST);
      while (pair.right.status(receive) == Status.IN_PROGRESS) {
        pair.progress();
      }
      if (pair.right.receivedBytes(receive) != 8) {
        throw new AssertionError("lost bytes");
      }
      pair.right.release(receive);
      while (pair.left.poll(send) == Status.IN_PROGRESS) {
        pair.progress();
      }
    }
  }
}

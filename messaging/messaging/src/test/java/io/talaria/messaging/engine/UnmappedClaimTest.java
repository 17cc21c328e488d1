// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.talaria.messaging.Codec;
import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessageReader;
import io.talaria.messaging.MessageWriter;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.transport.RingPair;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A claim that is open when the memory of its ring is unmapped. */
@Timeout(120)
class UnmappedClaimTest {
  private static final long GIVE_UP_NS = 4_000_000_000L;

  @TempDir Path directory;
  private LocalNode near;
  private LocalNode far;
  private volatile MemorySegment ring;
  private final CountDownLatch open = new CountDownLatch(1);

  record Slow(long value) {}

  /** Keeps the claim open until the ring is unmapped, if a test has named the ring. */
  private final class SlowCodec implements Codec<Slow> {
    @Override
    public int size(Slow message) {
      return Long.BYTES;
    }

    @Override
    public void write(Slow message, MessageWriter out) {
      out.putLong(message.value());
      MemorySegment waitsFor = ring;
      if (waitsFor != null) {
        open.countDown();
        long end = System.nanoTime() + GIVE_UP_NS;
        while (waitsFor.scope().isAlive() && System.nanoTime() - end < 0) {
          LockSupport.parkNanos(1_000_000);
        }
      }
    }

    @Override
    public Slow read(MessageReader in) {
      return new Slow(in.getLong());
    }
  }

  private NodeOptions options(int id) {
    return NodeOptions.of(id)
        .cluster("test")
        .runDirectory(directory.resolve("run"))
        .sharedMemoryDirectory(directory.resolve("shm"))
        .transports(Transport.SHM)
        .sendTimeout(LIMIT)
        .type(Slow.class, new SlowCodec())
        .receive(Slow.class, Dispatch.INLINE, (slow, from) -> {});
  }

  @AfterEach
  void close() {
    RunningNodes.close(near, far);
  }

  /** Else its thread would count as one that writes, and that stalls others, while it does not. */
  @Test
  void isClosedForItsThread() throws Exception {
    near = RunningNodes.start(options(1));
    far = RunningNodes.start(options(2));
    long first = near.peer(2).send(new Slow(1));
    assertThat(near.peer(2).awaitDelivered(first, LIMIT)).isTrue();
    MemorySegment memory = near.remote(2).connection().link().out(RingPair.DATA).memory();
    FutureTask<Integer> claimAfter =
        new FutureTask<>(
            () -> {
              assertThat(near.peer(2).trySend(new Slow(2))).isNotEqualTo(Peer.CONNECTING);
              return ThreadContext.current().openClaim();
            });
    ring = memory;
    Thread.ofPlatform().daemon().start(claimAfter);
    await(open);
    near.close(Duration.ZERO);
    assertThat(claimAfter.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isZero();
    assumeThat(memory.scope().isAlive()).as("not unmapped in time").isFalse();
  }
}

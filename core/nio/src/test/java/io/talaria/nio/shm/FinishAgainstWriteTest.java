// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import io.talaria.testsupport.Seed;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A thread ends the output while another is in the middle of its copy, for as long as it likes: a
 * write that reports success stands before the end, and one that came too late reports that nobody
 * gets its bytes.
 */
@Timeout(120)
class FinishAgainstWriteTest {
  private static final int RING = 1 << 16;
  private static final int ENOUGH = 20;
  private static final long RUN_NS = TimeUnit.SECONDS.toNanos(10);

  @TempDir Path dir;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  @Test
  void aWriteThatSucceedsStandsBeforeTheEnd() throws Exception {
    long start = System.nanoTime();
    long seed = Seed.next();
    Random random = new Random(seed);
    ByteBuffer[] sources = new ByteBuffer[RING];
    int tooLate = 0;
    int inTime = 0;
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      while (tooLate < ENOUGH && System.nanoTime() - start < RUN_NS) {
        Connection connection = pair.connect();
        for (int i = 0; i < sources.length; i++) { // as many as it takes to be long at it
          sources[i] = ByteBuffer.allocate(1);
        }
        CountDownLatch begun = new CountDownLatch(1);
        Future<Long> writer =
            threads.submit(
                () -> {
                  begun.countDown();
                  return connection.client.stream.write(sources, 0, sources.length);
                });
        begun.await();
        for (int i = random.nextInt(5_000); i > 0; i--) {
          Thread.onSpinWait();
        }
        connection.client.stream.finishOutput();
        long read = readToTheEnd(connection.server.stream, writer);
        long written = writer.get(30, TimeUnit.SECONDS);
        long taken = sources.length - remaining(sources);
        if (written == TransportStream.BROKEN) {
          tooLate++;
          assertThat(taken).as("taken, with seed %d", seed).isZero();
        } else {
          inTime++;
          assertThat(written).as("reported, with seed %d", seed).isEqualTo(taken);
          assertThat(read).as("read of %d, with seed %d", written, seed).isEqualTo(written);
        }
        assertThat(connection.client.stream.write(ByteBuffer.allocate(1)))
            .as("a write behind the end")
            .isEqualTo(TransportStream.BROKEN);
        assertThat(connection.server.stream.read(ByteBuffer.allocate(1)))
            .as("the end, for good")
            .isEqualTo(TransportStream.END);
        assertThat(connection.server.stream.unread()).as("unread behind the end").isFalse();
        connection.release();
        pair.settle();
      }
    }
    assertThat(tooLate).as("too late, beside %d in time", inTime).isPositive();
  }

  /** Reads while the writer may still be at it: an end that has been seen must be the end. */
  private static long readToTheEnd(ShmStream stream, Future<Long> writer) throws Exception {
    ByteBuffer bytes = ByteBuffer.allocate(RING);
    long total = 0;
    int n;
    while ((n = stream.read(bytes.clear())) >= 0) {
      total += n;
    }
    writer.get(30, TimeUnit.SECONDS);
    assertThat(n).isEqualTo(TransportStream.END);
    return total;
  }

  private static long remaining(ByteBuffer[] sources) {
    long bytes = 0;
    for (ByteBuffer source : sources) {
      bytes += source.remaining();
    }
    return bytes;
  }
}

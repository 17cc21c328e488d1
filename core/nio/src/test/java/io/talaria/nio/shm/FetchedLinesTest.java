// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A write between reads fetches the lines of the next one ahead, by writing to them: never to bytes
 * that are still to be read, however full the ring is and wherever it ends.
 */
@Timeout(120)
class FetchedLinesTest {
  private static final int STEPS = 60_000;
  private static final int MAX_STEP = 6_000;

  @TempDir Path dir;

  private final Random random = new Random(Long.getLong("talaria.test.seed", 11));

  /** One direction: what was written, and what was read. */
  private final class Direction {
    private final ShmStream from;
    private final ShmStream to;
    private final long seed;
    private long written;
    private long read;

    Direction(ShmStream from, ShmStream to) {
      this.from = from;
      this.to = to;
      seed = random.nextLong();
    }

    /** Writes, at times gathered. */
    void write(int bytes) {
      ByteBuffer[] parts = {ByteBuffer.allocate(bytes / 3), ByteBuffer.allocateDirect(bytes)};
      long position = written;
      for (ByteBuffer part : parts) {
        Pattern.fill(part, seed, position);
        position += part.capacity();
      }
      if (random.nextBoolean()) {
        written += Math.max(0, from.write(parts, 0, 2));
      } else {
        written += Math.max(0, from.write(parts[0]));
      }
    }

    void read(int bytes) {
      ByteBuffer buffer = ByteBuffer.allocate(bytes);
      int n = to.read(buffer);
      Pattern.check(buffer, 0, n, seed, read);
      read += Math.max(0, n);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4 << 10, 16 << 10, 64 << 10})
  void noByteIsOverwrittenBeforeItIsRead(int ring) throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), 4 << 10, ring)) {
      Connection connection = pair.connect();
      ShmStream client = connection.client.stream;
      ShmStream server = connection.server.stream;
      Direction[] both = {new Direction(client, server), new Direction(server, client)};
      for (int i = 0; i < STEPS; i++) {
        Direction one = both[random.nextInt(2)];
        int bytes = 1 + random.nextInt(MAX_STEP);
        switch (random.nextInt(4)) {
          case 0 -> one.write(bytes);
          case 1 -> one.read(bytes);
          case 2 -> { // a request and its response
            both[0].write(bytes);
            both[0].read(ring);
            both[1].write(bytes);
            both[1].read(ring);
          }
          default -> {
            one.write(bytes);
            one.read(1 + random.nextInt(bytes));
          }
        }
      }
      for (Direction one : both) {
        while (one.read < one.written) {
          one.read(ring);
        }
        assertThat(one.written).isGreaterThan(STEPS * 100L);
      }
      connection.release();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.memory.Faults;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program's own buffer is a file that somebody has cut short, so the JVM throws somewhere in
 * the middle of a transfer of a stream that is sound. However that comes out, the stream and the
 * program's buffers agree on how many bytes have moved, and the peer gets just those.
 */
@Timeout(120)
class LateErrorTest {
  private static final int RING = 1 << 16;
  private static final int WARM = 30_000;
  private static final int ROUNDS = 2_000;
  private static final int BYTES = 64;

  @TempDir Path dir;

  private PeerPair pair;
  private Connection connection;
  private MappedByteBuffer gone;

  @BeforeEach
  void connect() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), RING, RING);
    connection = pair.connect();
    Path file = dir.resolve("cut");
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate(BYTES));
      gone = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
      channel.truncate(0);
    }
    Files.delete(file);
  }

  @AfterEach
  void close() {
    connection.release();
    pair.close();
  }

  private static ByteBuffer[] three(ByteBuffer middle) {
    return new ByteBuffer[] {ByteBuffer.allocate(BYTES), middle, ByteBuffer.allocate(BYTES)};
  }

  /** What the peer can read now, at once. */
  private int drain() {
    return Math.max(0, connection.server.stream.read(ByteBuffer.allocate(RING)));
  }

  @Test
  void aGatheringWriteHasMovedWhatItsBuffersSay() {
    int errors = 0;
    for (int i = 0; i < WARM + ROUNDS; i++) {
      boolean bad = i >= WARM;
      ByteBuffer[] sources = three(bad ? gone.duplicate() : ByteBuffer.allocate(BYTES));
      try {
        connection.client.stream.write(sources, 0, 3);
        Faults.take();
      } catch (InternalError e) {
        errors++;
      }
      int taken = 3 * BYTES;
      for (ByteBuffer source : sources) {
        taken -= source.remaining();
      }
      assertThat(drain()).as("bytes that arrived in round %d", i).isEqualTo(taken);
    }
    assertThat(errors).as("errors").isPositive();
  }

  @Test
  void aWriteHasMovedWhatItsBufferSays() {
    int errors = 0;
    for (int i = 0; i < WARM + ROUNDS; i++) {
      ByteBuffer source = i >= WARM ? gone.duplicate() : ByteBuffer.allocate(BYTES);
      try {
        connection.client.stream.write(source);
        Faults.take();
      } catch (InternalError e) {
        errors++;
      }
      assertThat(drain()).as("in round %d", i).isEqualTo(BYTES - source.remaining());
    }
    assertThat(errors).as("errors").isPositive();
  }

  @Test
  void aReadHasMovedWhatItsBufferSays() {
    int errors = 0;
    byte[] numbers = new byte[BYTES + 8];
    for (int i = 0; i < WARM + ROUNDS; i++) {
      for (int k = 0; k < numbers.length; k++) {
        numbers[k] = (byte) (i + k);
      }
      assertThat(connection.client.stream.write(ByteBuffer.wrap(numbers))).isEqualTo(BYTES + 8);
      ByteBuffer destination = i >= WARM ? gone.duplicate() : ByteBuffer.allocate(BYTES);
      try {
        connection.server.stream.read(destination);
        Faults.take();
      } catch (InternalError e) {
        errors++;
      }
      ByteBuffer rest = ByteBuffer.allocate(RING);
      int taken = destination.position();
      assertThat(connection.server.stream.read(rest)).isEqualTo(BYTES + 8 - taken);
      assertThat(rest.get(0)).as("next byte in round %d", i).isEqualTo((byte) (i + taken));
    }
    assertThat(errors).as("errors").isPositive();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ten thousand connections of two processes: what they take, and that all of it is given back. */
@Timeout(120)
class ManyConnectionsTest {
  private static final int RING = 32 << 10;
  private static final int MANY = 10_000;

  /** Slabs of 10,000: 40.5 MiB. */
  private static final long MAX_BYTES = 60_000_000;

  @TempDir Path dir;

  private OwnMappings mappings;

  @BeforeEach
  void count() throws Exception {
    mappings = new OwnMappings(dir);
  }

  private List<Connection> connect(PeerPair pair) throws Exception {
    List<Connection> all = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      all.add(pair.connect());
    }
    return all;
  }

  private static void echoes(Connection connection, int value) {
    ByteBuffer message = ByteBuffer.allocate(16).putInt(0, value);
    assertThat(connection.client.stream.write(message)).isEqualTo(16);
    ByteBuffer got = ByteBuffer.allocate(16);
    assertThat(connection.server.stream.read(got)).isEqualTo(16);
    assertThat(connection.server.stream.write(got.flip())).isEqualTo(16);
    assertThat(connection.client.stream.read(got.clear())).isEqualTo(16);
    assertThat(got.getInt(0)).isEqualTo(value);
  }

  @Test
  void tenThousandTakeAPageEach() throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      List<Connection> all = connect(pair);
      for (int i = 0; i < MANY; i++) {
        echoes(all.get(i), i);
      }
      long bytes = mappings.bytes() / 2; // both sides are in this process
      assertThat(bytes).as("bytes of shared memory").isLessThanOrEqualTo(MAX_BYTES);
      assertThat(mappings.count()).as("files, twice").isEqualTo(2L * 43);

      Collections.shuffle(all, new Random(3));
      for (Connection connection : all.subList(0, MANY / 2)) {
        connection.release();
      }
      pair.settle();
      List<Connection> rest = new ArrayList<>(all.subList(MANY / 2, MANY));
      for (int i = 0; i < MANY / 2; i++) {
        rest.add(pair.connect()); // in the pages that have come back
      }
      assertThat(mappings.count()).as("files, twice").isEqualTo(2L * 43);
      for (int i = 0; i < MANY; i++) {
        echoes(rest.get(i), ~i);
      }
      rest.forEach(Connection::release);
      pair.settle();
      assertThat(mappings.count()).as("files kept, twice").isEqualTo(2L * 5);
    }
    assertThat(mappings.left()).isZero();
    assertThat(dir.resolve("shm")).isEmptyDirectory();
  }

  /** The peer is killed while all are open. */
  @Test
  void tenThousandAreGivenBackWhenThePeerEnds() throws Exception {
    List<Connection> all;
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      all = connect(pair);
      assertThat(all.get(MANY - 1).client.stream.write(ByteBuffer.allocate(3000))).isEqualTo(3000);
      pair.dialler.run(() -> pair.dialler.transport.peerGone(pair.dialler));
      pair.dialled.run(() -> pair.dialled.transport.peerGone(pair.dialled));
      ByteBuffer got = ByteBuffer.allocate(4000);
      assertThat(all.get(MANY - 1).server.stream.read(got)).as("what was written").isEqualTo(3000);
      all.forEach(Connection::release);
    }
    assertThat(mappings.left()).isZero();
    assertThat(dir.resolve("shm")).isEmptyDirectory();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of streams whose memory somebody takes away, seen from inside. */
@Timeout(60)
class TakenMemoryTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;

  @TempDir Path dir;

  private Path shm;
  private OwnMappings mappings;

  @BeforeEach
  void count() throws Exception {
    shm = dir.resolve("shm");
    mappings = new OwnMappings(dir);
  }

  private FileChannel onlyFile() throws Exception {
    try (Stream<Path> files = Files.list(shm)) {
      List<Path> all = files.toList();
      assertThat(all).hasSize(1);
      return FileChannel.open(all.get(0), StandardOpenOption.WRITE);
    }
  }

  /** A connection, and its file. */
  private record Victim(Connection connection, FileChannel memory) {}

  /** An offer of a page in a new slab, and the slab's file, before the peer has mapped it. */
  private record Offered(Upgrade upgrade, FileChannel memory) {}

  private Offered offer(PeerPair pair) throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    pair.dialled.execute(
        () -> {
          try {
            seen.await();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    try {
      Upgrade upgrade = pair.dialler.call(() -> pair.dialler.transport.offer(pair.dialler));
      return new Offered(upgrade, onlyFile());
    } finally {
      seen.countDown();
    }
  }

  private Victim victim(PeerPair pair) throws Exception {
    Offered offered = offer(pair);
    Upgrade offer = offered.upgrade();
    FileChannel memory = offered.memory();
    Upgrade answer =
        pair.dialled.call(() -> pair.dialled.transport.answer(pair.dialled, offer.payload()));
    pair.dialler.run(() -> offer.answered(answer.payload()));
    pair.settle();
    return new Victim(
        new Connection((ShmStream) offer.stream(), (ShmStream) answer.stream()), memory);
  }

  private static boolean examine(PeerPair.Side side) throws Exception {
    return side.call(side.transport::examine);
  }

  private static void carries(End from, End to) {
    assertThat(from.stream.write(ByteBuffer.wrap(new byte[] {1, 2, 3}))).isEqualTo(3);
    assertThat(to.stream.read(ByteBuffer.allocate(9))).isEqualTo(3);
  }

  private static void assertReset(TransportStream stream) {
    assertThat(stream.readiness(TransportStream.READ | TransportStream.WRITE))
        .isEqualTo(TransportStream.READ | TransportStream.WRITE);
    ByteBuffer bytes = ByteBuffer.allocate(100);
    assertThat(stream.read(bytes)).isEqualTo(TransportStream.RESET);
    assertThat(stream.read(bytes)).isEqualTo(TransportStream.RESET);
    assertThat(stream.write(bytes)).isEqualTo(TransportStream.BROKEN);
    assertThat(stream.write(new ByteBuffer[] {bytes}, 0, 1)).isEqualTo(TransportStream.BROKEN);
    assertThat(stream.watch(TransportStream.READ)).isFalse();
    assertThat(stream.peerInputSwitched()).isTrue();
    stream.abandonInput(false);
    stream.abort();
    Faults.take(); // none of this touches what is gone
  }

  @Test
  void onlyTheStreamInThatMemoryIsReset() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, 4 * RING)) {
      Connection sound = pair.connect();
      Victim victim = victim(pair);
      carries(victim.connection().client, victim.connection().server);
      assertThat(victim.connection().client.stream.write(ByteBuffer.allocate(50))).isEqualTo(50);

      victim.memory().truncate(0);

      for (PeerPair.Side side : List.of(pair.dialler, pair.dialled)) {
        assertThat(examine(side)).isTrue();
        assertThat(examine(side)).as("known").isTrue();
      }
      assertReset(victim.connection().client.stream);
      assertReset(victim.connection().server.stream);
      carries(sound.client, sound.server);
      carries(sound.server, sound.client);

      victim.connection().release();
      pair.settle();
      assertThat(examine(pair.dialler)).as("forgotten").isFalse();
      Connection next = pair.connect(); // not in the same memory
      carries(next.client, next.server);
      next.release();
      sound.release();
    }
    assertThat(mappings.left()).isZero();
  }

  /** Where the control page is left, the peer is told. */
  @Test
  void aLostRingResetsBothSides() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, 4 * RING)) {
      Victim victim = victim(pair);
      victim.memory().truncate(ConnectionLayout.CONTROL_BYTES + RING);
      assertThat(examine(pair.dialled)).isTrue();
      assertThat(victim.connection().client.stream.read(ByteBuffer.allocate(1)))
          .isEqualTo(TransportStream.RESET);
      assertThat(victim.connection().client.stream.write(ByteBuffer.allocate(1)))
          .isEqualTo(TransportStream.BROKEN);
      victim.connection().release();
    }
    assertThat(mappings.left()).isZero();
  }

  @Test
  void memoryLostInThePoolIsNotUsedAgain() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, 4 * RING)) {
      Victim victim = victim(pair);
      victim.connection().release();
      pair.settle();
      victim.memory().truncate(0);
      Connection next = pair.connect();
      carries(next.client, next.server);
      next.release();
    }
    assertThat(mappings.left()).isZero();
  }

  /** Its own page may lie elsewhere: who writes to a ring in that file, or reads, is reset. */
  @Test
  void aRingInTheSlabOfAnotherIsLostWithIt() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      Victim victim = victim(pair); // slab 0, one ring a side
      Connection writer = pair.connect(); // slab 1
      Connection reader = pair.connect();
      Connection sound = pair.connect();
      write(writer.client, 2000); // the lowest is taken first: the victim's
      write(reader.server, 2000);
      write(sound.client, 2000);
      assertThat(writer.server.stream.read(ByteBuffer.allocate(10))).isEqualTo(10);

      victim.memory().truncate(0);

      for (PeerPair.Side side : List.of(pair.dialler, pair.dialled)) {
        assertThat(examine(side)).isTrue();
      }
      assertReset(writer.client.stream);
      assertReset(reader.server.stream);
      assertThat(sound.server.stream.read(ByteBuffer.allocate(3000))).isEqualTo(2000);
      carries(sound.server, sound.client);
      victim.connection().release();
      writer.release();
      reader.release();
      pair.settle();
      Connection next = pair.connect();
      write(next.client, 2000);
      assertThat(examine(pair.dialler)).as("it has not got the lost ring").isFalse();
      next.release();
      sound.release();
    }
    assertThat(mappings.left()).isZero();
  }

  /** Three slabs of one pair are lost, and none of their mappings stays. */
  @Test
  void slabsThatAreLostAreUnmappedWhenNobodyUsesThem() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      Connection first = pair.connect();
      long mapped = mappings.count();
      for (int round = 0; round < 3; round++) {
        Victim victim = victim(pair);
        write(victim.connection().client, 2000);
        write(victim.connection().server, 2000);
        victim.memory().truncate(0);
        assertThat(examine(pair.dialler)).isTrue();
        assertThat(examine(pair.dialled)).isTrue();
        victim.connection().release();
        pair.settle();
        carries(first.client, first.server);
      }
      // One ring at the first connection's slab, and one slab in use.
      assertThat(mappings.count()).isEqualTo(mapped);
      first.release();
    }
    assertThat(mappings.left()).isZero();
  }

  private static void write(End from, int bytes) {
    assertThat(from.stream.write(ByteBuffer.allocate(bytes))).isEqualTo(bytes);
  }

  @Test
  void aStreamThatNobodyHasAcceptedIsWithdrawn() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, 4 * RING)) {
      Offered offered = offer(pair);
      Upgrade offer = offered.upgrade();
      pair.settle();
      try (FileChannel memory = offered.memory()) {
        memory.truncate(0);
      }
      assertThat(examine(pair.dialler)).isTrue();
      TransportStream stream = offer.stream();
      assertThat(stream.withdrawn()).isTrue();
      assertThat(stream.established()).isFalse();
      pair.dialler.run(() -> offer.cancel(Reason.CLOSED_EARLY));
    }
    assertThat(mappings.left()).isZero();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.Upgrade;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.memory.StableMappings;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
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
  private long mappingsBefore;

  @BeforeEach
  void count() throws Exception {
    shm = dir.resolve("shm");
    mappingsBefore = StableMappings.count();
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

  private Victim victim(PeerPair pair) throws Exception {
    Upgrade offer = pair.dialler.call(() -> pair.dialler.fabric.offer(pair.dialler));
    FileChannel memory = onlyFile();
    Upgrade answer =
        pair.dialled.call(() -> pair.dialled.fabric.answer(pair.dialled, offer.payload()));
    pair.dialler.run(() -> offer.answered(answer.payload()));
    return new Victim(
        new Connection((ShmStream) offer.stream(), (ShmStream) answer.stream()), memory);
  }

  private static boolean examine(PeerPair.Side side) throws Exception {
    return side.call(side.fabric::examine);
  }

  private static void carries(End from, End to) {
    assertThat(from.stream.write(ByteBuffer.wrap(new byte[] {1, 2, 3}))).isEqualTo(3);
    assertThat(to.stream.read(ByteBuffer.allocate(9))).isEqualTo(3);
  }

  private static void assertReset(FabricStream stream) {
    assertThat(stream.readiness(FabricStream.READ | FabricStream.WRITE))
        .isEqualTo(FabricStream.READ | FabricStream.WRITE);
    ByteBuffer bytes = ByteBuffer.allocate(100);
    assertThat(stream.read(bytes)).isEqualTo(FabricStream.RESET);
    assertThat(stream.read(bytes)).isEqualTo(FabricStream.RESET);
    assertThat(stream.write(bytes)).isEqualTo(FabricStream.BROKEN);
    assertThat(stream.write(new ByteBuffer[] {bytes}, 0, 1)).isEqualTo(FabricStream.BROKEN);
    assertThat(stream.watch(FabricStream.READ)).isFalse();
    assertThat(stream.peerInputSwitched()).isTrue();
    stream.abandonInput();
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
    assertThat(StableMappings.count()).isEqualTo(mappingsBefore);
  }

  /** Where the control page is left, the peer is told. */
  @Test
  void aLostRingResetsBothSides() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, 4 * RING)) {
      Victim victim = victim(pair);
      victim.memory().truncate(ConnectionLayout.CONTROL_BYTES + RING);
      assertThat(examine(pair.dialled)).isTrue();
      assertThat(victim.connection().client.stream.read(ByteBuffer.allocate(1)))
          .isEqualTo(FabricStream.RESET);
      assertThat(victim.connection().client.stream.write(ByteBuffer.allocate(1)))
          .isEqualTo(FabricStream.BROKEN);
      victim.connection().release();
    }
    assertThat(StableMappings.count()).isEqualTo(mappingsBefore);
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
    assertThat(StableMappings.count()).isEqualTo(mappingsBefore);
  }

  @Test
  void aStreamThatNobodyHasAcceptedIsWithdrawn() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, 4 * RING)) {
      Upgrade offer = pair.dialler.call(() -> pair.dialler.fabric.offer(pair.dialler));
      try (FileChannel memory = onlyFile()) {
        memory.truncate(0);
      }
      assertThat(examine(pair.dialler)).isTrue();
      FabricStream stream = offer.stream();
      assertThat(stream.withdrawn()).isTrue();
      assertThat(stream.established()).isFalse();
      pair.dialler.run(() -> offer.cancel(Reason.CLOSED_EARLY));
    }
    assertThat(StableMappings.count()).isEqualTo(mappingsBefore);
  }
}

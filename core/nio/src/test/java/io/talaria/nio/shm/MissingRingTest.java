// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rings of slabs that come back between a writer's look for one and its sleep: it is told by the
 * thread that gives them back, and not by the clock.
 */
@Timeout(120)
class MissingRingTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;
  private static final int PAGE = ConnectionLayout.INLINE_RING_BYTES;

  /** The slots of the first three slabs, and their rings a side. */
  private static final int CONNECTIONS = 1 + 4 + 16;

  private static final int RINGS = 1 + 3 + 6;

  @TempDir Path dir;

  private final List<Connection> all = new ArrayList<>();

  /** A pair with connections of which the first have all rings; no other rings can be made. */
  private PeerPair pair(int maxRingBytes) throws Exception {
    Path shm = dir.resolve("shm");
    PeerPair pair = new PeerPair(shm, RING, maxRingBytes);
    for (int i = 0; i < CONNECTIONS; i++) {
      all.add(pair.connect());
    }
    pair.settle();
    Files.move(shm, dir.resolve("away"));
    Files.createFile(shm);
    for (int i = 0; i < RINGS; i++) {
      assertThat(write(all.get(i).client, RING)).as("ring " + i).isEqualTo(RING);
    }
    pair.settle();
    return pair;
  }

  private void release() throws Exception {
    Files.delete(dir.resolve("shm"));
    Files.move(dir.resolve("away"), dir.resolve("shm"));
    all.forEach(Connection::release);
  }

  private static int write(End from, int bytes) {
    return from.write(ByteBuffer.allocate(bytes));
  }

  /** As the writer of a connection whose reader has left it: that one reads no more here. */
  private void giveRingBack(int connection) {
    all.get(connection).client.stream.growth().giveBack();
  }

  /** A writer whose page is full looks for a ring, and finds none. */
  private static void lookInVain(End writer) {
    assertThat(write(writer, PAGE)).isEqualTo(PAGE);
    assertThat(writer.stream.growth().slabRingFree()).isFalse();
  }

  private static void readRing(End from) {
    ByteBuffer got = ByteBuffer.allocate(2 * RING);
    int n;
    do {
      n = from.read(got);
    } while (n > 0);
    assertThat(got.position()).isEqualTo(RING);
  }

  /** The negotiation thread hears that a writer asks. */
  private static void hear(PeerPair pair, End writer) throws Exception {
    pair.dialler.run(() -> writer.stream.peer.growOutput(writer.stream, 1, RING));
  }

  @Test
  void aRingThatComesBackBeforeTheAskIsHeardIsFoundThen() throws Exception {
    try (PeerPair pair = pair(RING)) {
      End writer = all.get(RINGS).client;
      int before = writer.woken.get();
      lookInVain(writer);
      giveRingBack(0);
      pair.settle();
      assertThat(writer.woken).as("nobody knows of it yet").hasValue(before);

      hear(pair, writer);

      assertThat(writer.woken).as("told").hasValue(before + 1);
      assertThat(write(writer, RING - PAGE)).isEqualTo(RING - PAGE);
      release();
    }
  }

  /** Who has given the first back has also taken note that all have been told. */
  @Test
  void soIsOneThatComesBackLaterAlthoughAnotherCameBefore() throws Exception {
    try (PeerPair pair = pair(RING)) {
      End writer = all.get(RINGS).client;
      int before = writer.woken.get();
      lookInVain(writer);
      giveRingBack(0);
      pair.settle();
      assertThat(write(all.get(RINGS + 1).client, RING)).as("another takes it").isEqualTo(RING);
      hear(pair, writer);
      assertThat(writer.woken).as("there is none").hasValue(before);

      giveRingBack(1);
      pair.settle();

      assertThat(writer.woken).as("told").hasValue(before + 1);
      assertThat(write(writer, RING - PAGE)).isEqualTo(RING - PAGE);
      release();
    }
  }

  /** It has asked for a larger ring a moment ago, which is not what it wants now. */
  @Test
  void whoHasReturnedToItsPageIsHeardAtOnce() throws Exception {
    try (PeerPair pair = pair(4 * RING)) {
      End writer = all.get(0).client;
      assertThat(write(writer, 1)).isZero();
      assertThat(writer.stream.growth().asked()).isTrue();
      readRing(all.get(0).server);
      pair.rest();
      pair.rest();
      assertThat(writer.stream.outBytes()).isEqualTo(PAGE);
      assertThat(write(all.get(RINGS).client, RING)).as("another takes it").isEqualTo(RING);

      assertThat(write(writer, RING)).isEqualTo(PAGE);
      pair.settle();
      assertThat(writer.stream.await(TransportStream.WRITE)).as("nothing to write to").isTrue();
      pair.settle();
      int before = writer.woken.get();
      giveRingBack(1);
      pair.settle();

      assertThat(writer.woken).as("told").hasValue(before + 1);
      assertThat(write(writer, RING - PAGE)).isEqualTo(RING - PAGE);
      release();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A larger ring that cannot be had just now is asked for again, but not by every write. */
@Timeout(60)
class RefusedRingTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;
  private static final int MAX_BYTES = 4 * RING;
  private static final long LIMIT_NS = 30_000_000_000L;

  @TempDir Path dir;

  private Path shm;
  private PeerPair pair;
  private Connection connection;

  @BeforeEach
  void connect() throws Exception {
    shm = dir.resolve("shm");
    pair = new PeerPair(shm, RING, MAX_BYTES);
    connection = pair.connect();
  }

  @AfterEach
  void close() {
    connection.release();
    pair.close();
  }

  /** Writes until nothing goes in, and asks for more that way. */
  private long fill() {
    ByteBuffer bytes = ByteBuffer.allocate(RING);
    long total = 0;
    int n;
    do {
      bytes.clear();
      n = connection.client.stream.write(bytes);
      total += n;
    } while (n > 0);
    assertThat(n).isZero();
    return total;
  }

  private void writeUntilItHasGrown() {
    long endNs = System.nanoTime() + LIMIT_NS;
    while (connection.client.stream.outBytes() < MAX_BYTES) {
      assertThat(System.nanoTime()).as("asked again").isLessThan(endNs);
      fill();
      Thread.onSpinWait();
    }
  }

  private Set<Path> files() throws Exception {
    try (Stream<Path> listed = Files.list(shm)) {
      return listed.collect(Collectors.toCollection(HashSet::new));
    }
  }

  @Test
  void anAskingSideWithoutMemoryForItAsksAgain() throws Exception {
    Path away = dir.resolve("away");
    Files.move(shm, away);
    Path inItsPlace = Files.createFile(shm); // so no ring can be made
    assertThat(fill()).isPositive();
    pair.settle();
    assertThat(connection.client.stream.outBytes()).isEqualTo(RING);

    Files.delete(inItsPlace);
    Files.move(away, shm);
    writeUntilItHasGrown();
  }

  @Test
  void aPeerThatCouldNotMapItIsOfferedTheSameRingAgain() throws Exception {
    Set<Path> before = files();
    CountDownLatch held = new CountDownLatch(1);
    pair.dialled.execute(() -> await(held));
    assertThat(fill()).isPositive();
    pair.dialler.settle();
    Set<Path> made = files();
    made.removeAll(before);
    assertThat(made).hasSize(1);
    Path ring = made.iterator().next();
    Path away = dir.resolve("ring");
    Files.move(ring, away); // so the peer cannot open it
    held.countDown();
    pair.settle();
    assertThat(connection.client.stream.outBytes()).isEqualTo(RING);

    Files.move(away, ring);
    writeUntilItHasGrown();
    pair.settle();
    pair.assertHealthy();
  }

  /** It had no descriptor left, say, and the opener of a file takes its name. */
  @Test
  void aPeerThatCouldNotMapItAndHasTakenItsNameIsOfferedAnother() throws Exception {
    Set<Path> before = files();
    CountDownLatch held = new CountDownLatch(1);
    pair.dialled.execute(() -> await(held));
    assertThat(fill()).isPositive();
    pair.dialler.settle();
    Set<Path> made = files();
    made.removeAll(before);
    assertThat(made).hasSize(1);
    Files.delete(made.iterator().next());
    held.countDown();
    pair.settle();
    assertThat(connection.client.stream.outBytes()).isEqualTo(RING);

    writeUntilItHasGrown();
    pair.settle();
    pair.assertHealthy();
    assertThat(files()).isEqualTo(before);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aPeerThatWasOnlySlowTakesTheRingOnce() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    pair.dialled.execute(() -> await(held));
    long askAgainNs = System.nanoTime() + 2 * RingGrowth.ASK_AGAIN_NS;
    while (System.nanoTime() < askAgainNs) {
      fill();
      Thread.onSpinWait();
    }
    pair.dialler.settle(); // two offers of one ring are on their way
    held.countDown();
    writeUntilItHasGrown();
    pair.settle();
    pair.assertHealthy();
  }

  @Test
  void whoHasAskedDoesNotAskAgainBeforeItsTime() {
    RingGrowth growth = new RingGrowth(null, new SlabRings(() -> {}, () -> {}), RING, MAX_BYTES);
    long startNs = -5;
    assertThat(growth.ask(startNs)).isTrue();
    assertThat(growth.ask(startNs)).isFalse();
    assertThat(growth.ask(startNs + RingGrowth.ASK_AGAIN_NS - 1)).isFalse();
    assertThat(growth.ask(startNs + RingGrowth.ASK_AGAIN_NS)).isTrue();
    assertThat(growth.ask(startNs + RingGrowth.ASK_AGAIN_NS + 1)).isFalse();
  }
}

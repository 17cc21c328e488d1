// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Slabs that cannot be had, rings that run out, and peers that say what makes no sense of them. */
@Timeout(120)
class SlabsTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;

  @TempDir Path dir;

  private Path shm;
  private OwnMappings mappings;

  @BeforeEach
  void count() throws Exception {
    shm = dir.resolve("shm");
    mappings = new OwnMappings(dir);
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(mappings.left()).as("mappings").isZero();
    assertThat(shm).isEmptyDirectory();
  }

  private static void assertRefused(Reason reason, PeerPair.Work work) {
    assertThatThrownBy(work::run)
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.reason()).isEqualTo(reason));
  }

  private static void assertProtocol(PeerPair.Side side, ByteBuffer message) {
    assertRefused(
        Reason.PROTOCOL, () -> side.run(() -> side.transport.received(side, message.duplicate())));
  }

  /** The peer cannot map a slab: what is offered there is refused, and the next one is tried. */
  @Test
  void aSlabThatThePeerCannotMapCostsTheOffersInIt() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      Connection first = pair.connect();
      CountDownLatch held = new CountDownLatch(1);
      pair.dialled.execute(() -> await(held));
      List<Upgrade> offers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        offers.add(pair.dialler.call(() -> pair.dialler.transport.offer(pair.dialler)));
      }
      try (Stream<Path> files = Files.list(shm)) {
        List<Path> all = files.toList();
        assertThat(all).as("files of slabs").hasSize(1);
        Files.delete(all.get(0));
      }
      held.countDown();
      for (Upgrade offer : offers) {
        assertRefused(
            Reason.OTHER_SHM_DIR,
            () ->
                pair.dialled.call(
                    () -> pair.dialled.transport.answer(pair.dialled, offer.payload())));
        pair.dialler.run(() -> offer.cancel(Reason.OTHER_SHM_DIR));
      }
      pair.settle();
      assertThat(mappings.count()).as("the first slab's").isEqualTo(2);
      Connection next = pair.connect();
      next.release();
      first.release();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void withoutRoomForRingsNothingIsOffered() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      Connection first = pair.connect();
      pair.dialler.transport.roomBytes = Long.MAX_VALUE / 2;
      assertRefused(
          Reason.SHM_FULL,
          () -> pair.dialler.call(() -> pair.dialler.transport.offer(pair.dialler)));
      pair.dialler.transport.roomBytes = 0;
      Connection second = pair.connect();
      second.release();
      first.release();
    }
  }

  @Test
  void theFileSystemIsAskedOnceATurnHowMuchIsFree() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      pair.dialler.transport.usableBytes =
          () -> {
            asked.incrementAndGet();
            return 1L << 40;
          };
      List<Connection> all = new ArrayList<>();
      for (int i = 0; i < 2; i++) { // without turns
        all.add(pair.connect());
      }
      assertThat(asked).hasValue(2);
      for (int turn = 0; turn < 3; turn++) {
        pair.dialler.turn = turn;
        for (int i = 0; i < 10; i++) {
          all.add(pair.connect());
        }
        assertThat(asked).hasValue(3 + turn);
      }
      all.forEach(Connection::release);
    }
  }

  /** What one connection takes, the next of the same turn does not find. */
  @Test
  void whatIsTakenInATurnIsNotFreeForTheRestOfIt() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      ShmTransport transport = pair.dialler.transport;
      long free = transport.roomBytes + SlabLayout.bytes(0, RING);
      transport.usableBytes =
          () -> {
            asked.incrementAndGet();
            return free;
          };
      pair.dialler.turn = 0;
      Connection first = pair.connect(); // with the only page of its slab
      assertThat(SlabLayout.bytes(1, RING)).isGreaterThan(SlabLayout.bytes(0, RING));
      for (int i = 0; i < 2; i++) {
        assertRefused(
            Reason.SHM_FULL, () -> pair.dialler.call(() -> transport.offer(pair.dialler)));
      }
      assertThat(asked).as("what is not enough is asked again").hasValue(3);
      transport.usableBytes = () -> 1L << 40;
      Connection second = pair.connect();
      second.release();
      first.release();
    }
  }

  /** More writers than rings of slabs: the others get rings in files, and all bytes arrive. */
  @Test
  void whoFindsNoRingInTheSlabsGetsOneInAFile() throws Exception {
    int many = 3 * SlabLayout.RING_SLABS * SlabLayout.RING_NUMBERS;
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      List<Connection> all = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        all.add(pair.connect());
      }
      int inSlabs = 0;
      for (int i = 0; i < many; i++) {
        int taken = write(all.get(i).client, i, 0, RING);
        inSlabs += taken == RING ? 1 : 0;
        assertThat(taken).isIn(RING, ConnectionLayout.INLINE_RING_BYTES);
      }
      assertThat(inSlabs).as("rings in slabs").isEqualTo(1 + 3 + 6 + 8);
      pair.settle();
      for (int i = 0; i < many; i++) {
        End from = all.get(i).client;
        int before = i < inSlabs ? RING : ConnectionLayout.INLINE_RING_BYTES;
        assertThat(from.stream.readiness(TransportStream.WRITE))
            .as("writer " + i)
            .isEqualTo(i < inSlabs ? 0 : TransportStream.WRITE);
        int more = write(from, i, before, RING);
        assertThat(before + more).isEqualTo(RING);
        ByteBuffer got = ByteBuffer.allocate(2 * RING);
        int n;
        do {
          n = all.get(i).server.stream.read(got);
        } while (n > 0);
        assertThat(got.position()).isEqualTo(RING);
        Pattern.check(got, 0, RING, i, 0);
      }
      all.forEach(Connection::release);
      pair.settle();
      Connection next = pair.connect();
      assertThat(write(next.client, 1, 0, RING)).as("a ring has come back").isEqualTo(RING);
      next.release();
    }
  }

  /** Writers of more than fits into their pages, of which the last has found no ring anywhere. */
  private List<Connection> withOneStuck(PeerPair pair, Path away) throws Exception {
    List<Connection> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) { // in slabs with four rings a side
      all.add(pair.connect());
    }
    pair.settle();
    Files.move(shm, away);
    Files.createFile(shm); // so no ring can be made
    for (int i = 0; i < 4; i++) {
      assertThat(write(all.get(i).client, i, 0, RING)).isEqualTo(RING);
    }
    ShmStream stuck = all.get(4).client.stream;
    assertThat(write(all.get(4).client, 4, 0, RING)).isEqualTo(ConnectionLayout.INLINE_RING_BYTES);
    pair.settle();
    assertThat(stuck.await(TransportStream.WRITE)).as("nothing to write to").isTrue();
    return all;
  }

  private void restore(Path away) throws Exception {
    Files.delete(shm);
    Files.move(away, shm);
  }

  /** Who sleeps without a limit does not look again by itself. */
  @Test
  void whoIsStuckInItsPageIsToldOfARingThatComesBack() throws Exception {
    Path away = dir.resolve("away");
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      List<Connection> all = withOneStuck(pair, away);
      End stuck = all.get(4).client;
      int before = stuck.woken.get();

      all.get(2).release();
      pair.settle();

      assertThat(stuck.woken.get() - before).as("told").isPositive();
      assertThat(stuck.stream.readiness(TransportStream.WRITE)).isEqualTo(TransportStream.WRITE);
      assertThat(write(stuck, 4, 1024, 3000)).isEqualTo(3000);
      restore(away);
      all.remove(2);
      all.forEach(Connection::release);
    }
  }

  @Test
  void whoIsStuckInItsPageGetsAFileOnceThereIsRoom() throws Exception {
    Path away = dir.resolve("away");
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      List<Connection> all = withOneStuck(pair, away);
      End stuck = all.get(4).client;
      assertThat(pair.dialler.transport.mayRest()).as("looked at by the clock").isTrue();
      pair.rest();
      pair.settle();
      assertThat(stuck.stream.readiness(TransportStream.WRITE)).isZero();

      restore(away);
      long start = System.nanoTime();
      while (stuck.stream.outBytes() == ConnectionLayout.INLINE_RING_BYTES) {
        assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(30));
        pair.rest();
        pair.settle();
        Thread.sleep(10);
        write(stuck, 4, 1024, 1);
      }
      all.forEach(Connection::release);
    }
  }

  private static int write(End from, int seed, int position, int bytes) {
    ByteBuffer next = ByteBuffer.allocate(bytes);
    Pattern.fill(next, seed, position);
    return from.stream.write(next);
  }

  @Test
  void whatMakesNoSenseOfSlabsEndsTheSession() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      Connection connection = pair.connect();
      long mapped = mappings.count();
      for (int slab : new int[] {0, -1, SlabLayout.SLABS, Integer.MIN_VALUE}) {
        assertProtocol(pair.dialled, ShmMessages.slab(slab, 1, RING));
        assertProtocol(pair.dialled, ShmMessages.drop(slab));
        assertProtocol(pair.dialler, ShmMessages.mapped(slab));
        assertProtocol(pair.dialler, ShmMessages.unmapped(slab));
      }
      assertProtocol(pair.dialled, ShmMessages.slab(1, 1, 2 * RING)); // others than the first
      assertProtocol(pair.dialled, ShmMessages.slab(1, 1, RING + 1));
      assertProtocol(pair.dialled, ShmMessages.mapped(0)); // it does not make them
      assertProtocol(pair.dialler, ShmMessages.slab(1, 1, RING));
      assertProtocol(pair.dialler, ShmMessages.drop(0));
      assertProtocol(pair.dialled, ShmMessages.drop(4)); // there is none
      for (int slot : new int[] {0, 1, 5, -1, PeerLayout.SLOTS, Integer.MAX_VALUE}) {
        assertRefused(
            Reason.PROTOCOL,
            () ->
                pair.dialled.call(
                    () -> pair.dialled.transport.answer(pair.dialled, ShmMessages.offer(slot, 1))));
      }
      assertThat(mappings.count()).isEqualTo(mapped);
      connection.release();
    }
  }

  /** The page must have been made ready for just this connection. */
  @Test
  void aPageOfAnotherGenerationIsRefused() throws Exception {
    try (PeerPair pair = new PeerPair(shm, RING, RING)) {
      Upgrade offer = pair.dialler.call(() -> pair.dialler.transport.offer(pair.dialler));
      ByteBuffer payload = offer.payload();
      int slot = payload.getInt();
      int generation = payload.getInt();
      assertRefused(
          Reason.PROTOCOL,
          () ->
              pair.dialled.call(
                  () ->
                      pair.dialled.transport.answer(
                          pair.dialled, ShmMessages.offer(slot, generation + 1))));
      Upgrade answer =
          pair.dialled.call(
              () ->
                  pair.dialled.transport.answer(pair.dialled, ShmMessages.offer(slot, generation)));
      pair.dialler.run(() -> offer.answered(answer.payload()));
      new Connection((ShmStream) offer.stream(), (ShmStream) answer.stream()).release();
    }
  }
}

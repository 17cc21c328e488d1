// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import io.talaria.testsupport.Seed;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A peer that writes anything at any time into all memory it shares, and sends anything. The honest
 * side may lose this peer's connections, but never throws, never hangs, and returns only what is
 * documented.
 */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class HostilePeerTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;
  private static final long RUN_NS = Length.ns(3);
  private static final int MIN_ROUNDS = 10;
  private static final int[] WORDS = {
    ConnectionLayout.TAIL, ConnectionLayout.HEAD, ConnectionLayout.DATA_WAIT,
    ConnectionLayout.SPACE_WAIT, ConnectionLayout.ACCEPTS, ConnectionLayout.SWITCH_AT,
    ConnectionLayout.OUT_END, ConnectionLayout.IN_CLOSED, ConnectionLayout.IN_SWITCHED,
    ConnectionLayout.READY_SET, ConnectionLayout.MOVE_GENERATION, ConnectionLayout.MOVE_AT,
    ConnectionLayout.MOVE_TO, ConnectionLayout.IN_MOVES, ConnectionLayout.RING_READY
  };

  @TempDir Path dir;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private OwnMappings mappings;
  private SharedFiles files;

  @BeforeEach
  void open() throws Exception {
    mappings = new OwnMappings(dir);
    PrivateDirectory directory = new PrivateDirectory(dir.resolve("shm"), Reason.NO_SHM_DIR);
    assertThat(directory.prepare()).isNull();
    files = new SharedFiles(directory);
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  /** The honest side of a session; its tasks run when asked, on the calling thread. */
  private final class Honest implements Peer {
    final ShmTransport transport = PeerPair.transport(dir.resolve("shm"), RING, 16 * RING);
    final Queue<Runnable> tasks = new ArrayDeque<>();
    final boolean initiator;
    private Object attachment;
    ByteBuffer region;

    /** Slabs, as the hostile side has mapped them. */
    final Mapping[] slabs = new Mapping[SlabLayout.SLABS];

    /** The slab of which the hostile side says nothing, or -1. */
    int silent = -1;

    private int slots;
    int generation;

    Honest(boolean initiator) throws TransportException {
      this.initiator = initiator;
      if (initiator) {
        region = files.openCollected(transport.openPeer(this).getLong(), PeerLayout.BYTES, 0);
        transport.peerAccepted(this);
      } else {
        SharedFiles.Created<ByteBuffer> made = files.createCollected(PeerLayout.BYTES);
        region = made.mapping();
        ConnectionLayout.setRelease(region, PeerLayout.MAGIC_OFFSET, PeerLayout.MAGIC);
        transport.acceptPeer(this, ByteBuffer.allocate(8).putLong(0, made.id()));
        files.remove(made.id());
      }
    }

    synchronized void runTasks() {
      for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
        task.run();
      }
    }

    @Override
    public synchronized void execute(Runnable task) {
      tasks.add(task);
    }

    /** One more connection; the hostile side knows its memory afterwards. */
    synchronized ShmStream connect() throws TransportException {
      Upgrade upgrade;
      if (initiator) {
        upgrade = transport.offer(this);
        ByteBuffer payload = upgrade.payload();
        payload.getInt();
        generation = payload.getInt();
        assertThat(generation).isPositive();
        upgrade.answered(ByteBuffer.allocate(0));
        runTasks(); // the slab is open
      } else {
        int slot = slots++;
        int index = SlabLayout.slab(slot);
        if (slabs[index] == null) {
          SharedFiles.Created<Mapping> made = files.create(SlabLayout.bytes(index, RING));
          slabs[index] = made.mapping();
          transport.received(this, ShmMessages.slab(index, made.id(), RING));
          files.remove(made.id());
        }
        generation = slot + 1;
        ConnectionLayout.reset(page(slot), slot, generation, RING);
        upgrade = transport.answer(this, ShmMessages.offer(slot, generation));
      }
      ShmStream stream = (ShmStream) upgrade.stream();
      stream.owner(new Deaf(), this);
      stream.acceptInput();
      ConnectionLayout.setRelease(
          page(stream.slot), theirs(stream.slot) + ConnectionLayout.ACCEPTS, 1);
      assertThat(stream.established()).isTrue();
      stream.switchOut(0);
      return stream;
    }

    /** The control page of a slot. */
    ByteBuffer page(int slot) {
      return slabs[SlabLayout.slab(slot)]
          .buffer()
          .slice(SlabLayout.pageAt(slot), SlabLayout.PAGE_BYTES)
          .order(ByteOrder.nativeOrder());
    }

    /** Offset of the hostile side's block. */
    int theirs(int slot) {
      return ConnectionLayout.side(initiator ? 1 : 0, slot);
    }

    void giveBack(ShmStream stream) {
      stream.release();
      runTasks();
    }

    void end() {
      runTasks();
      transport.peerGone(this);
      runTasks();
      for (Mapping slab : slabs) {
        if (slab != null) {
          slab.close();
        }
      }
    }

    @Override
    public boolean initiator() {
      return initiator;
    }

    @Override
    public long pid() {
      return 0;
    }

    @Override
    public void send(ByteBuffer message) {
      // The hostile side makes up its own mind, but maps what it can.
      if (message.get(message.position()) == ShmMessages.SLAB) {
        int index = message.getInt(message.position() + 1);
        long file = message.getLong(message.position() + 5);
        try {
          slabs[index] = files.open(file, SlabLayout.bytes(index, RING), 0);
        } catch (TransportException e) {
          throw new AssertionError(e);
        }
        if (index != silent) {
          execute(
              () -> {
                try {
                  transport.received(this, ShmMessages.mapped(index));
                } catch (TransportException e) {
                  throw new AssertionError(e);
                }
              });
        }
      }
    }

    @Override
    public Object attachment() {
      return attachment;
    }

    @Override
    public void attach(Object value) {
      attachment = value;
    }
  }

  /** A channel that takes everything. */
  private static final class Deaf implements StreamOwner {
    @Override
    public boolean ring() {
      return true;
    }

    @Override
    public void woken() {}

    @Override
    public void released() {}

    @Override
    public void stalled() {}

    @Override
    public void buffersChanged(int inBytes, int outBytes) {
      assertThat(inBytes).isPositive();
      assertThat(outBytes).isPositive();
    }
  }

  // ---- garbage
  // -------------------------------------------------------------------------------------

  /** A side's block in one of the segments that these tests use. */
  private static int block(Random random) {
    return ConnectionLayout.side(random.nextInt(2), random.nextInt(4));
  }

  private static long value(Random random, ByteBuffer control) {
    long near =
        ConnectionLayout.getAcquire(control, block(random) + WORDS[random.nextInt(WORDS.length)]);
    return switch (random.nextInt(9)) {
      case 0 -> 0;
      case 1 -> random.nextInt(4);
      case 2 -> -1 - random.nextInt(3);
      case 3 -> Long.MIN_VALUE + random.nextInt(3);
      case 4 -> Long.MAX_VALUE - random.nextInt(3);
      case 5 -> near + random.nextInt(2 * RING) - RING;
      case 6 -> near + 1;
      case 7 -> random.nextInt(8 * RING);
      default -> random.nextLong();
    };
  }

  private static void scribble(Random random, ByteBuffer page) {
    int offset =
        switch (random.nextInt(8)) {
          case 0 -> ConnectionLayout.PHASE_OFFSET;
          case 1 -> 8 * random.nextInt(ConnectionLayout.CONTROL_BYTES / 8);
          default -> block(random) + WORDS[random.nextInt(WORDS.length)];
        };
    ConnectionLayout.setRelease(page, offset, value(random, page));
  }

  private static void scribbleRegion(Random random, ByteBuffer region) {
    int offset =
        switch (random.nextInt(3)) {
          case 0 -> PeerLayout.ready(random.nextInt(2), random.nextInt(4));
          case 1 -> PeerLayout.sleep(random.nextInt(2), random.nextInt(4));
          default -> 8 * random.nextInt(PeerLayout.BYTES / 8);
        };
    ConnectionLayout.setRelease(region, offset, random.nextLong());
  }

  private ByteBuffer message(Random random, int current, int generation) throws TransportException {
    int other = random.nextInt(2) == 0 ? random.nextInt() : random.nextInt(6);
    int slot = random.nextInt(4) == 0 ? other : current;
    int of = random.nextInt(4) == 0 ? random.nextInt() : generation;
    ByteBuffer made =
        switch (random.nextInt(9)) {
          case 0 -> ShmMessages.drop(slot);
          case 8 ->
              switch (random.nextInt(3)) {
                case 0 -> ShmMessages.slab(slot, random.nextLong(), RING);
                case 1 -> ShmMessages.mapped(slot);
                default -> ShmMessages.unmapped(slot);
              };
          case 1 ->
              random.nextBoolean()
                  ? ShmMessages.released(slot, of)
                  : ShmMessages.accepted(slot, of);
          case 2, 3 -> {
            int bytes = random.nextBoolean() ? RING << random.nextInt(3) : random.nextInt();
            long ringGeneration = random.nextBoolean() ? 1 : random.nextLong();
            yield ShmMessages.grow(slot, of, ringGeneration, random.nextLong(), bytes);
          }
          case 4, 5 -> {
            int bytes = RING << random.nextInt(3);
            SharedFiles.Created<Mapping> ring = files.create(bytes);
            ring.mapping().close();
            rings.add(ring.id());
            yield ShmMessages.grow(slot, of, 1 + random.nextInt(3), ring.id(), bytes);
          }
          default -> {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            yield ByteBuffer.wrap(bytes);
          }
        };
    if (random.nextInt(6) == 0) {
      made.limit(random.nextInt(made.limit() + 1));
    }
    return made;
  }

  private final List<Long> rings = new ArrayList<>();

  // ---- the honest side's calls
  // ---------------------------------------------------------------------

  private static void write(Random random, ShmStream stream) {
    ByteBuffer one = Pattern.buffer(random, random.nextInt(2 * RING));
    if (random.nextBoolean()) {
      int remaining = one.remaining();
      int n = stream.write(one);
      assertThat(n).isIn(range(TransportStream.BROKEN, remaining)).isNotEqualTo(-1);
    } else {
      ByteBuffer[] sources = {
        Pattern.buffer(random, random.nextInt(RING)), one, Pattern.buffer(random, 7)
      };
      long remaining =
          (long) sources[0].remaining() + sources[1].remaining() + sources[2].remaining();
      long n = stream.write(sources, 0, 3);
      assertThat(n).isBetween((long) TransportStream.BROKEN, remaining).isNotEqualTo(-1L);
    }
  }

  private static void read(Random random, ShmStream stream) {
    ByteBuffer into = Pattern.buffer(random, random.nextInt(2 * RING));
    int at = into.position();
    int remaining = into.remaining();
    int n = stream.read(into);
    assertThat(n).isBetween(TransportStream.RESET, remaining);
    assertThat(into.position()).isEqualTo(at + Math.max(0, n));
  }

  private static Iterable<Integer> range(int from, int to) {
    List<Integer> all = new ArrayList<>();
    for (int i = from; i <= to; i++) {
      all.add(i);
    }
    return all;
  }

  private static void look(Random random, ShmStream stream, ShmReadySet readySet) {
    int ops = random.nextInt(2) * TransportStream.READ | random.nextInt(2) * TransportStream.WRITE;
    switch (random.nextInt(12)) {
      case 0 -> assertThat(stream.readiness(ops) & ~ops).isZero();
      case 1 -> stream.watch(ops);
      case 2 -> {
        stream.await(ops);
        stream.awake(ops);
      }
      case 3 -> stream.peerSwitchAt();
      case 4 -> stream.peerInputSwitched();
      case 5 -> {
        stream.unread();
        assertThat(stream.available()).isBetween(0, 64 * RING);
      }
      case 6 -> stream.detail();
      case 7 -> assertThat(stream.established()).isTrue();
      case 8 -> {
        int drained = readySet.drainReady(found -> assertThat(found).isNotNull(), 100);
        assertThat(drained).isBetween(0, 164);
      }
      case 9 -> {
        readySet.arm();
        readySet.disarm();
      }
      case 10 -> stream.moveTo(random.nextBoolean() ? readySet : null);
      default -> assertThat(stream.withdraw()).as("withdrawn though established").isFalse();
    }
  }

  // ---- tests
  // ---------------------------------------------------------------------------------------

  private void stepByStep(boolean initiator) throws Exception {
    Honest honest = new Honest(initiator);
    ShmReadySet readySet = (ShmReadySet) honest.transport.openReadySet();
    long start = System.nanoTime();
    int rounds = 0;
    // On a machine that is taken some seconds are too few: the time limit of the test ends it.
    for (long seed = start;
        rounds <= MIN_ROUNDS || System.nanoTime() - start < RUN_NS;
        seed++, rounds++) {
      Random random = new Random(seed);
      try {
        ShmStream stream = honest.connect();
        ByteBuffer page = honest.page(stream.slot);
        stream.moveTo(readySet);
        int steps = random.nextInt(60);
        for (int i = 0; i < steps; i++) {
          for (int n = random.nextInt(3); n > 0; n--) {
            scribble(random, page);
          }
          scribbleRegion(random, honest.region);
          switch (random.nextInt(8)) {
            case 0, 1 -> write(random, stream);
            case 2, 3 -> read(random, stream);
            case 4 -> {
              try {
                honest.transport.received(honest, message(random, stream.slot, honest.generation));
              } catch (TransportException e) {
                assertThat(e.reason()).isEqualTo(Reason.PROTOCOL);
              }
              honest.runTasks();
            }
            default -> look(random, stream, readySet);
          }
        }
        if (random.nextInt(3) == 0) {
          stream.abandonInput(false);
          stream.abort();
        } else if (random.nextBoolean()) {
          stream.finishOutput();
        }
        stream.controlEnded(random.nextBoolean());
        honest.giveBack(stream);
        if (rounds % 50 == 49) { // with a new peer, whose slots are free again
          honest.end();
          honest = new Honest(initiator);
          readySet = (ShmReadySet) honest.transport.openReadySet();
        }
      } catch (Exception | Error e) {
        throw new AssertionError("with seed " + seed + ": " + e, e);
      }
    }
    honest.end();
    rings.forEach(files::remove);
    assertThat(mappings.count()).as("mappings").isZero();
  }

  @Test
  void theSideThatConnectedWithstandsGarbage() throws Exception {
    stepByStep(true);
  }

  @Test
  void theSideThatAcceptedWithstandsGarbage() throws Exception {
    stepByStep(false);
  }

  @Test
  void garbageThatChangesBetweenTwoLooksIsWithstood() throws Exception {
    long start = System.nanoTime();
    for (long seed = Seed.next(); System.nanoTime() - start < RUN_NS; seed += 50) {
      Honest honest = new Honest(true);
      ShmReadySet readySet = (ShmReadySet) honest.transport.openReadySet();
      for (int i = 0; i < 50; i++) {
        allAtOnce(honest, readySet, seed + i);
      }
      honest.end();
    }
    assertThat(mappings.count()).as("mappings").isZero();
  }

  private void allAtOnce(Honest honest, ShmReadySet readySet, long seed) throws Exception {
    ShmStream stream = honest.connect();
    ByteBuffer page = honest.page(stream.slot);
    stream.moveTo(readySet);
    List<Future<?>> working =
        List.of(
            threads.submit(() -> repeat(new Random(seed), random -> write(random, stream))),
            threads.submit(() -> repeat(new Random(~seed), random -> read(random, stream))),
            threads.submit(
                () -> repeat(new Random(-seed), random -> look(random, stream, readySet))));
    Random random = new Random(seed + 1);
    for (Future<?> work : working) {
      while (!work.isDone()) {
        scribble(random, page);
        scribbleRegion(random, honest.region);
      }
      work.get();
    }
    honest.giveBack(stream);
  }

  private static void repeat(Random random, Consumer<Random> call) {
    for (int i = 0; i < 200; i++) {
      call.accept(random);
    }
  }

  @Test
  void whateverIsOfferedIsAnsweredOrRefused() throws Exception {
    Honest honest = new Honest(false);
    Random random = new Random(3);
    int answered = 0;
    for (int i = 0; i < 3000; i++) {
      int index = random.nextInt(12) == 0 ? random.nextInt() : random.nextInt(6) - 1;
      int ring = random.nextInt(4) == 0 ? random.nextInt() : RING << random.nextInt(2);
      SharedFiles.Created<Mapping> made =
          files.create(
              random.nextInt(4) == 0 ? RING : SlabLayout.bytes(Math.floorMod(index, 6), RING));
      ByteBuffer memory = made.mapping().buffer();
      int page = random.nextInt(memory.capacity() / SlabLayout.PAGE_BYTES);
      int of = random.nextInt(6) == 0 ? random.nextInt() : random.nextInt(3);
      if (random.nextInt(4) != 0) {
        ConnectionLayout.reset(
            memory
                .slice(page * SlabLayout.PAGE_BYTES, SlabLayout.PAGE_BYTES)
                .order(ByteOrder.nativeOrder()),
            0,
            of,
            RING << random.nextInt(2));
      }
      made.mapping().close();
      ByteBuffer slab =
          ShmMessages.slab(index, random.nextInt(4) == 0 ? random.nextInt(3) : made.id(), ring);
      try {
        honest.transport.received(honest, slab);
      } catch (TransportException e) {
        assertThat(e.reason()).isEqualTo(Reason.PROTOCOL);
      }
      int slot =
          random.nextInt(6) == 0
              ? random.nextInt()
              : SlabLayout.firstSlot(Math.floorMod(index, 6)) + page;
      ByteBuffer payload = ShmMessages.offer(slot, of);
      if (random.nextInt(8) == 0) {
        payload.limit(random.nextInt(payload.limit()));
      }
      try {
        Upgrade upgrade = honest.transport.answer(honest, payload);
        answered++;
        if (random.nextBoolean()) {
          upgrade.cancel(Reason.CLOSED_EARLY);
        } else {
          upgrade.stream().owner(new Deaf(), this);
          upgrade.stream().release();
        }
      } catch (TransportException e) {
        assertThat(e.reason()).isIn(Reason.PROTOCOL, Reason.OTHER_SHM_DIR);
      }
      honest.runTasks();
      files.remove(made.id());
      if (random.nextInt(20) == 0) {
        honest.end();
        honest = new Honest(false);
      } else if (random.nextInt(4) == 0) {
        try {
          honest.transport.received(honest, ShmMessages.drop(random.nextInt(8) - 1));
        } catch (TransportException e) {
          assertThat(e.reason()).isEqualTo(Reason.PROTOCOL);
        }
      }
    }
    assertThat(answered).isPositive();
    honest.end();
    assertThat(mappings.count()).as("mappings").isZero();
    assertThat(dir.resolve("shm")).isEmptyDirectory();
  }

  /** Has the honest side's reader look for its next byte in the ring of slab 0. */
  private static void moveToSlab0(Honest honest, ShmStream stream) {
    ByteBuffer page = honest.page(stream.slot);
    int theirs = honest.theirs(stream.slot);
    long start = ConnectionLayout.start(stream.slot);
    long ring = ConnectionLayout.ring(ConnectionLayout.RING_OF_SLAB, SlabLayout.ring(0, 0));
    ConnectionLayout.setRelease(page, theirs + ConnectionLayout.moveAt(0), start);
    ConnectionLayout.setRelease(page, theirs + ConnectionLayout.moveTo(0), ring);
    ConnectionLayout.setRelease(page, theirs + ConnectionLayout.MOVE_GENERATION, 1);
    ConnectionLayout.setRelease(page, theirs + ConnectionLayout.TAIL, start + 1);
  }

  @Test
  void aSlabThatThePeerCannotMapIsNotReadFrom() throws Exception {
    Honest honest = new Honest(true);
    honest.silent = 0;
    Upgrade first = honest.transport.offer(honest); // has the only page of slab 0
    ShmStream stream = honest.connect(); // in slab 1
    honest.transport.received(honest, ShmMessages.unmapped(0));
    first.cancel(Reason.MAP_FAILED); // nobody uses slab 0 any more

    moveToSlab0(honest, stream);

    assertThat(stream.read(ByteBuffer.allocate(1))).isEqualTo(TransportStream.RESET);
    honest.giveBack(stream);
    honest.end();
    assertThat(mappings.count()).as("mappings").isZero();
  }

  @Test
  void whoWritesInASlabCannotSayThatItIsNotMapped() throws Exception {
    Honest honest = new Honest(true);
    honest.silent = 0;
    Upgrade first = honest.transport.offer(honest);
    ShmStream stream = honest.connect();
    moveToSlab0(honest, stream);
    assertThat(stream.read(ByteBuffer.allocate(1))).isEqualTo(1);

    assertThatThrownBy(() -> honest.transport.received(honest, ShmMessages.unmapped(0)))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("cannot map slab 0");

    first.cancel(Reason.PROTOCOL);
    honest.giveBack(stream);
    honest.end();
    assertThat(mappings.count()).as("mappings").isZero();
  }

  @Test
  void anAcceptanceThatComesBeforeTheAnswerIsIgnored() throws Exception {
    Honest honest = new Honest(true);
    Upgrade upgrade = honest.transport.offer(honest);
    ByteBuffer payload = upgrade.payload();
    int slot = payload.getInt();
    int generation = payload.getInt();
    for (int side = 0; side < 2; side++) { // in the honest side's name as well
      ConnectionLayout.setRelease(
          honest.page(slot), ConnectionLayout.side(side, slot) + ConnectionLayout.ACCEPTS, 1);
    }

    honest.transport.received(honest, ShmMessages.accepted(slot, generation));

    upgrade.cancel(Reason.PROTOCOL);
    honest.end();
    assertThat(mappings.count()).as("mappings").isZero();
  }

  @Test
  void aRingThatComesBeforeTheAnswerIsRefused() throws Exception {
    Honest honest = new Honest(true);
    Upgrade upgrade = honest.transport.offer(honest);
    ByteBuffer payload = upgrade.payload();
    int slot = payload.getInt();
    int generation = payload.getInt();
    ConnectionLayout.setRelease(
        honest.page(slot),
        honest.theirs(slot) + ConnectionLayout.SPACE_WAIT,
        1L << ConnectionLayout.WAIT_FLAG_BITS | ConnectionLayout.WAIT_DOORBELL);
    SharedFiles.Created<Mapping> ring = files.create(4 * RING);

    assertThatThrownBy(
            () ->
                honest.transport.received(
                    honest, ShmMessages.grow(slot, generation, 2, ring.id(), 4 * RING)))
        .isInstanceOf(TransportException.class)
        .hasMessage("protocol-error: the peer sent a ring for slot 0, which has not been answered");

    upgrade.cancel(Reason.PROTOCOL);
    honest.end();
    ring.mapping().close();
    files.remove(ring.id());
    assertThat(mappings.count()).as("mappings").isZero();
  }
}

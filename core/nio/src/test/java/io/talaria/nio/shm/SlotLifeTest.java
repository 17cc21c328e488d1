// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import io.talaria.testsupport.Seed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * The life of slots and slabs in every order of events that a session allows: what each side does,
 * what has been sent and not arrived, and what waits for a negotiation thread are moved on in
 * random order, on one thread, seeded. On JDK 22 and later a use after unmapping throws.
 */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class SlotLifeTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;
  private static final long RUN_NS = Length.ns(5);
  private static final int STEPS = 3000;

  @TempDir Path dir;

  private OwnMappings mappings;
  private ShmTransport clientTransport;
  private ShmTransport serverTransport;
  private int connections;
  private int answered;
  private int grown;

  @BeforeEach
  void open() throws Exception {
    mappings = new OwnMappings(dir);
    clientTransport = PeerPair.transport(dir.resolve("shm"), RING, 16 * RING);
    serverTransport = PeerPair.transport(dir.resolve("shm"), RING, 16 * RING);
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(mappings.count()).as("mappings").isZero();
    assertThat(dir.resolve("shm")).isEmptyDirectory();
  }

  private enum Kind {
    OFFER,
    ANSWER,
    REFUSE,
    TRANSPORT
  }

  private record Frame(Kind kind, int id, ByteBuffer payload) {}

  /** One side of a session, with what waits for its thread and what is on its way to it. */
  private static final class Side implements Peer {
    final ShmTransport transport;
    final boolean initiator;
    final Queue<Runnable> tasks = new ArrayDeque<>();
    final Queue<Frame> arriving = new ArrayDeque<>();
    final Map<Integer, Upgrade> offered = new HashMap<>();
    final List<Use> used = new ArrayList<>();
    Side other;
    boolean ended;
    private Object attachment;

    Side(ShmTransport transport, boolean initiator) {
      this.transport = transport;
      this.initiator = initiator;
    }

    void write(Frame frame) {
      if (!ended && !other.ended) {
        other.arriving.add(frame);
      }
    }

    @Override
    public void send(ByteBuffer message) {
      write(new Frame(Kind.TRANSPORT, 0, message.duplicate()));
    }

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
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
    public Object attachment() {
      return attachment;
    }

    @Override
    public void attach(Object value) {
      attachment = value;
    }
  }

  /** A stream in the hands of a channel. */
  private final class Use implements StreamOwner {
    final int connection;
    final ShmStream stream;
    long written;
    long read;
    boolean switched;

    Use(int connection, ShmStream stream) {
      this.connection = connection;
      this.stream = stream;
      stream.owner(this, this);
      stream.acceptInput();
    }

    @Override
    public boolean ring() {
      return true;
    }

    @Override
    public void woken() {}

    @Override
    public void released() {}

    @Override
    public void whileNobodyWrites(Runnable work) {
      work.run();
    }

    @Override
    public void whileNobodyReads(Runnable work) {
      work.run();
    }

    @Override
    public void stalled() {}

    @Override
    public void buffersChanged(int inBytes, int outBytes) {
      grown++;
    }
  }

  private Side[] session() throws TransportException {
    Side client = new Side(clientTransport, true);
    Side server = new Side(serverTransport, false);
    client.other = server;
    server.other = client;
    serverTransport.acceptPeer(server, clientTransport.openPeer(client));
    clientTransport.peerAccepted(client);
    return new Side[] {client, server};
  }

  // ---- steps
  // ----

  private void offer(Side client) throws TransportException {
    if (!client.ended) {
      Upgrade upgrade = client.transport.offer(client);
      int id = ++connections;
      client.offered.put(id, upgrade);
      client.write(new Frame(Kind.OFFER, id, upgrade.payload()));
    }
  }

  private void deliver(Random random, Side to) throws TransportException {
    Frame frame = to.ended ? null : to.arriving.poll();
    if (frame == null) {
      return;
    }
    switch (frame.kind()) {
      case TRANSPORT -> to.transport.received(to, frame.payload());
      case OFFER -> {
        Upgrade upgrade = random.nextInt(6) == 0 ? null : answer(to, frame);
        if (upgrade == null) {
          to.write(new Frame(Kind.REFUSE, frame.id(), null));
        } else if (random.nextInt(6) == 0) { // its channel has closed meanwhile
          upgrade.cancel(Reason.CLOSED_EARLY);
          to.write(new Frame(Kind.REFUSE, frame.id(), null));
        } else {
          to.used.add(new Use(frame.id(), (ShmStream) upgrade.stream()));
          to.write(new Frame(Kind.ANSWER, frame.id(), upgrade.payload()));
        }
      }
      case ANSWER -> {
        Upgrade upgrade = to.offered.remove(frame.id());
        upgrade.answered(frame.payload());
        answered++;
        ShmStream stream = (ShmStream) upgrade.stream();
        if (random.nextInt(6) == 0) {
          assertThat(stream.withdraw()).isTrue();
          stream.release();
        } else {
          to.used.add(new Use(frame.id(), stream));
        }
      }
      case REFUSE -> to.offered.remove(frame.id()).cancel(Reason.REFUSED);
    }
  }

  private static Upgrade answer(Side to, Frame frame) throws TransportException {
    try {
      return to.transport.answer(to, frame.payload());
    } catch (TransportException e) {
      if (to.other.ended && e.reason() == Reason.OTHER_SHM_DIR) {
        return null; // its maker has unlinked the file
      }
      throw e;
    }
  }

  private static void runTask(Side side) {
    Runnable task = side.tasks.poll();
    if (task != null) {
      task.run();
    }
  }

  private static Use any(Random random, List<Use> uses) {
    return uses.isEmpty() ? null : uses.get(random.nextInt(uses.size()));
  }

  private static void use(Random random, Side side) {
    Use use = any(random, side.used);
    if (use == null || !use.stream.established()) {
      return;
    }
    if (!use.switched) {
      use.switched = true;
      use.stream.switchOut(0);
    }
    long seed = use.connection * 1000L;
    if (random.nextBoolean()) {
      ByteBuffer source = ByteBuffer.allocate(Pattern.size(random, 3 * RING));
      Pattern.fill(source, seed + (side.initiator ? 0 : 1), use.written);
      int n = use.stream.write(source);
      use.written += Math.max(0, n);
    } else {
      ByteBuffer into = ByteBuffer.allocate(Pattern.size(random, 3 * RING));
      int n = use.stream.read(into);
      if (n > 0) {
        Pattern.check(into, 0, n, seed + (side.initiator ? 1 : 0), use.read);
        use.read += n;
      }
    }
  }

  private static void release(Random random, Side side) {
    Use use = any(random, side.used);
    if (use != null) {
      side.used.remove(use);
      if (random.nextBoolean()) {
        use.stream.abandonInput(false);
        use.stream.finishOutput();
      }
      use.stream.release();
    }
  }

  /** The side's session ends, as the negotiation does it. */
  private static void end(Side side) {
    if (!side.ended) {
      side.ended = true;
      side.arriving.clear();
      side.transport.peerGone(side);
      side.offered.values().forEach(upgrade -> upgrade.cancel(Reason.PEER_LOST));
      side.offered.clear();
    }
  }

  private void step(Random random, Side[] sides, int most) throws TransportException {
    Side side = sides[random.nextInt(2)];
    switch (random.nextInt(10)) {
      case 0, 1 -> {
        if (sides[0].used.size() + sides[0].offered.size() < most) {
          offer(sides[0]);
        }
      }
      case 2, 3, 4 -> deliver(random, side);
      case 5 -> runTask(side);
      case 6 -> {
        if (random.nextInt(4) == 0) {
          side.transport.rest();
        } else {
          runTask(side);
        }
      }
      case 7, 8 -> use(random, side);
      default -> {
        if (random.nextInt(2) == 0) {
          release(random, side);
        }
      }
    }
  }

  private static void finish(Random random, Side[] sides) {
    for (Side side : sides) {
      while (!side.used.isEmpty()) {
        release(random, side);
        if (random.nextBoolean()) {
          runTask(side);
        }
      }
    }
    for (int i = 0; i < 2; i++) {
      for (Side side : sides) {
        while (!side.tasks.isEmpty()) {
          runTask(side);
        }
      }
    }
  }

  private void run(Random random) throws TransportException, IOException {
    Side[] sides = session();
    int most = random.nextInt(3) == 0 ? 100 : 1 + random.nextInt(8);
    int steps = random.nextInt(STEPS);
    for (int i = 0; i < steps; i++) {
      step(random, sides, most);
    }
    // The session ends at one side, later at the other; programs go on meanwhile.
    int first = random.nextInt(2);
    end(sides[first]);
    for (int i = random.nextInt(100); i > 0; i--) {
      step(random, sides, most);
    }
    end(sides[1 - first]);
    for (int i = random.nextInt(100); i > 0; i--) {
      step(random, sides, most);
    }
    finish(random, sides);
    assertThat(mappings.count()).as("mappings").isZero();
  }

  @Test
  void everySlabIsUnmappedOnceAndNeverUsedAgain() throws Exception {
    long start = System.nanoTime();
    for (long seed = Seed.next(); System.nanoTime() - start < RUN_NS; seed++) {
      try {
        run(new Random(seed));
      } catch (Exception | Error e) {
        throw new AssertionError("with seed " + seed + ": " + e, e);
      }
    }
    assertThat(answered).as("connections").isPositive();
    assertThat(grown).as("rings that grew").isPositive();
  }

  @Test
  void aPageServesTheNextConnectionWithoutANewFile() throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      Connection first = pair.connect();
      int slot = first.client.stream.slot;
      assertThat(first.client.stream.write(ByteBuffer.allocate(99))).isEqualTo(99);
      first.release();
      pair.settle();
      long mapped = mappings.count();

      Connection second = pair.connect();

      assertThat(second.client.stream.slot).isEqualTo(slot);
      assertThat(mappings.count()).isEqualTo(mapped);
      assertThat(second.server.stream.read(ByteBuffer.allocate(9))).as("old bytes").isZero();
      second.release();
    }
  }

  @Test
  void aPageWaitsForBothSidesBeforeItIsUsedAgain() throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      Connection first = pair.connect();
      first.client.stream.release();
      pair.settle();
      Connection second = pair.connect();
      assertThat(second.client.stream.slot).isNotEqualTo(first.client.stream.slot);
      first.server.stream.release();
      pair.settle();
      Connection third = pair.connect();
      assertThat(third.client.stream.slot).isEqualTo(first.client.stream.slot);
      second.release();
      third.release();
    }
  }

  /** A ready bit belongs to a slot: the next user of the page is looked at for nothing, once. */
  @Test
  void aHintForTheLastUserOfAPageHarmsNobody() throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
      Connection first = pair.connect();
      first.server.stream.moveTo(readySet);
      assertThat(first.server.stream.watch(TransportStream.READ)).isTrue();
      ShmReadySetTest.writeTo(first.client);
      first.release();
      pair.settle();

      Connection second = pair.connect();
      assertThat(second.server.stream.slot).isEqualTo(first.server.stream.slot);
      second.server.stream.moveTo(readySet);
      List<TransportStream> hinted = new ArrayList<>();
      readySet.drainReady(hinted::add, 10);
      assertThat(hinted).doesNotContain(first.server.stream);
      assertThat(second.server.stream.readiness(TransportStream.READ)).isZero();
      assertThat(second.server.stream.watch(TransportStream.READ)).isTrue();

      ShmReadySetTest.writeTo(second.client);
      hinted.clear();
      assertThat(readySet.drainReady(hinted::add, 10)).isEqualTo(1);
      assertThat(hinted).containsExactly(second.server.stream);
      second.release();
      pair.settle();
      readySet.close();
    }
  }

  @Test
  void slabsThatNobodyUsesAreUnmappedAtBothSides() throws Exception {
    int many = SlabLayout.firstSlot(SlabLayout.RING_SLABS + 3); // seven slabs, all full
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      for (int round = 0; round < 3; round++) {
        List<Connection> open = new ArrayList<>();
        for (int i = 0; i < many; i++) {
          open.add(pair.connect());
        }
        assertThat(mappings.count()).isEqualTo(2L * 7);
        open.forEach(Connection::release);
        pair.settle();
        assertThat(mappings.count())
            .as("the small ones, which have rings, and one that is kept")
            .isEqualTo(2L * 5);
      }
    }
  }

  /** What has been said of a page's last user does not concern its next. */
  @Test
  void generationsOfAPageGoOnWhenTheyWrap() throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      ShmPeer peer = (ShmPeer) pair.dialler.attachment();
      pair.dialler.run(() -> peer.lastGeneration(Integer.MAX_VALUE - 2));
      for (int i = 0; i < 5; i++) {
        Connection connection = pair.connect();
        assertThat(connection.client.stream.slot).isZero();
        assertThat(connection.client.stream.write(ByteBuffer.allocate(2000))).isEqualTo(2000);
        assertThat(connection.server.stream.read(ByteBuffer.allocate(3000))).isEqualTo(2000);
        connection.release();
        pair.settle();
      }
      pair.assertHealthy();
    }
  }

  /** A ring that was taken from a slab is free when both sides have let go, and not before. */
  @Test
  void aRingOfASlabWaitsForItsReader() throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, RING)) {
      Connection first = pair.connect(); // its slab has one ring for each side
      assertThat(first.client.stream.write(ByteBuffer.allocate(2000))).isEqualTo(2000);
      first.client.stream.release();
      pair.settle();
      Connection second = pair.connect();
      ByteBuffer others = ByteBuffer.allocate(2000);
      Pattern.fill(others, 5, 0);
      assertThat(second.client.stream.write(others)).isEqualTo(2000);
      ByteBuffer got = ByteBuffer.allocate(3000);
      assertThat(first.server.stream.read(got)).isEqualTo(2000);
      for (int i = 0; i < 2000; i++) {
        assertThat(got.get(i)).as("byte " + i).isZero();
      }
      first.server.stream.release();
      second.release();
      pair.settle();
    }
  }
}

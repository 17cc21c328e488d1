// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.talaria.messaging.IdleStrategy;
import io.talaria.messaging.TestVerbs;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.ring.RingReceiver;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.transport.RingPair;
import io.talaria.nio.spin.Spinning;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two ports in one process, without nodes: handshakes that come to nothing, and lies. */
@Timeout(300)
class VerbsTransportTest {
  private static final int[] CAPACITY = {64 << 10, 16 << 10};
  private static final int NEAR = 1;
  private static final int FAR = 2;
  private static final long LIMIT_NS = TestVerbs.limit().toNanos();

  /** What a link tells. */
  private static final class Owner implements LinkOwner {
    final AtomicReference<String> failure = new AtomicReference<>();

    @Override
    public void wakePoller() {
      // The test looks all the time.
    }

    @Override
    public void wakeWaiters() {
      // Nobody waits.
    }

    @Override
    public void ending(String reason) {
      failure.compareAndSet(null, reason);
    }

    @Override
    public void failed(String reason) {
      failure.compareAndSet(null, reason);
    }
  }

  private NetworkTransport near;
  private NetworkTransport far;
  private final Owner nearOwner = new Owner();
  private final Owner farOwner = new Owner();
  private final List<SocketChannel> channels = new ArrayList<>();
  private SocketChannel nearSession;
  private SocketChannel farSession;

  // What each side has told last.
  private byte[] toldNear;
  private byte[] toldFar;

  private static NetworkTransport open(String name) throws IOException {
    NetworkTransport opened =
        VerbsTransport.open(
            part -> name + "-" + part, 10, CAPACITY, IdleStrategy.ADAPTIVE, new Spinning(20_000));
    opened.begin(() -> {}, false);
    return opened;
  }

  @BeforeEach
  void open() throws Exception {
    assumeThat(TestVerbs.prepare()).isEmpty();
    near = open("near");
    far = open("far");
  }

  @AfterEach
  void close() throws Exception {
    if (near != null) {
      near.close();
    }
    if (far != null) {
      far.close();
    }
    for (SocketChannel each : channels) {
      each.close();
    }
  }

  private void sessions() throws IOException {
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      nearSession = SocketChannel.open(listener.getLocalAddress());
      farSession = listener.accept();
    }
    nearSession.configureBlocking(false);
    farSession.configureBlocking(false);
    channels.add(nearSession);
    channels.add(farSession);
  }

  private void shakeHands() throws IOException {
    sessions();
    toldNear = near.offer(FAR);
    toldFar = far.accept(NEAR, 11, 22, toldNear);
    near.accepted(FAR, 22, toldNear, toldFar);
  }

  private Link nearLink(int number) throws IOException {
    return near.link(nearOwner, FAR, number, toldNear, nearSession, "test", CAPACITY);
  }

  private Link farLink(int number) throws IOException {
    return far.link(farOwner, NEAR, number, toldFar, farSession, "test", CAPACITY);
  }

  /**
   * Puts a record, if there is room; it has its length, the value, and the value again and again.
   */
  private static boolean tryPut(Link link, int priority, long value, int bytes) {
    RingProducer ring = link.out(priority);
    long claim = ring.tryClaim(bytes);
    if (claim < 0) {
      return false;
    }
    for (int at = 8; at < bytes; at += 8) {
      ring.memory().set(ValueLayout.JAVA_LONG, ring.offset(claim) + at, value);
    }
    ring.commit(claim, bytes);
    if (ring.mustWake()) {
      link.wakePeer();
    }
    return true;
  }

  private static void put(Link link, int priority, long value) {
    assertThat(tryPut(link, priority, value, 16)).isTrue();
  }

  private interface Condition {
    boolean holds();
  }

  /** A turn of each one's poller. */
  private static void turn(NetworkTransport... networks) {
    for (NetworkTransport each : networks) {
      each.bring();
      each.send();
    }
  }

  private void await(Condition condition) {
    long deadline = System.nanoTime() + LIMIT_NS;
    while (!condition.holds()) {
      assertThat(System.nanoTime())
          .as("%s, %s\n%s\n%s", nearOwner.failure, farOwner.failure, near, far)
          .isLessThan(deadline);
      turn(near, far);
    }
  }

  private long take(Link link, int priority) {
    await(() -> link.in(priority).peek() != 0);
    return takeOne(link, priority);
  }

  /** Takes a record that is there; all its values must be the same. */
  private static long takeOne(Link link, int priority) {
    RingReceiver in = link.in(priority);
    int bytes = in.peek();
    long value = in.memory().get(ValueLayout.JAVA_LONG, in.offset() + 8);
    for (int at = 16; at < bytes; at += 8) {
      assertThat(in.memory().get(ValueLayout.JAVA_LONG, in.offset() + at)).isEqualTo(value);
    }
    in.advance();
    in.publish();
    link.published(priority);
    return value;
  }

  @Test
  void recordsGoBothWaysInOrder() throws Exception {
    shakeHands();
    Link here = nearLink(1);
    Link there = farLink(1);
    assertThat(here.transport()).isEqualTo("verbs");
    assertThat(here.reason()).startsWith("test, by ").contains(":1");
    for (int priority = 0; priority < RingPair.COUNT; priority++) {
      for (long i = 0; i < 5_000; i++) {
        put(here, priority, i);
        put(there, priority, -i);
        assertThat(take(there, priority)).isEqualTo(i);
        assertThat(take(here, priority)).isEqualTo(-i);
      }
    }
  }

  /** All sizes, both priorities and directions at once, while readers stop for moments. */
  @Test
  void whateverIsSentArrivesOnceAndInOrder() throws Exception {
    shakeHands();
    Link[] links = {nearLink(1), farLink(1)};
    Random random = new Random(7);
    long[] sent = new long[2 * RingPair.COUNT];
    long[] taken = new long[2 * RingPair.COUNT];
    long deadline = System.nanoTime() + LIMIT_NS;
    long count = TestVerbs.isDevice() ? 2_000 : 20_000;
    while (Stream.of(0, 1, 2, 3).anyMatch(way -> taken[way] < count)) {
      assertThat(System.nanoTime()).as("%s\n%s", near, far).isLessThan(deadline);
      int way = random.nextInt(sent.length);
      Link from = links[way & 1];
      Link to = links[1 - (way & 1)];
      int priority = way >>> 1;
      for (int i = random.nextInt(40); i > 0 && sent[way] < count; i--) {
        int most = Math.min(CAPACITY[priority] >>> 3, 32 << 10);
        int bytes = random.nextInt(4) == 0 ? 16 + (random.nextInt(most - 16) & -8) : 16;
        if (!tryPut(from, priority, sent[way], bytes)) {
          break;
        }
        sent[way]++;
      }
      if (random.nextInt(3) == 0) {
        turn(random.nextBoolean() ? near : far);
      }
      for (int i = random.nextInt(60); i > 0 && to.in(priority).peek() != 0; i--) {
        assertThat(takeOne(to, priority)).isEqualTo(taken[way]++);
      }
    }
    assertThat(nearOwner.failure.get()).isNull();
    assertThat(farOwner.failure.get()).isNull();
  }

  /** The caller may send before the other side has heard that it is ready. */
  @Test
  void whatComesBeforeItsConnectionWaitsForIt() throws Exception {
    shakeHands();
    Link here = nearLink(1);
    for (long i = 0; i < 500; i++) {
      put(here, RingPair.DATA, i);
      turn(near, far);
    }
    Link there = farLink(1);
    for (long i = 0; i < 500; i++) {
      assertThat(take(there, RingPair.DATA)).isEqualTo(i);
    }
    put(here, RingPair.CONTROL, 7);
    assertThat(take(there, RingPair.CONTROL)).isEqualTo(7);
  }

  @Test
  void handshakesThatComeToNothingLeaveNothing() throws Exception {
    long before = 0;
    for (int round = 1; round <= 100; round++) {
      toldNear = near.offer(FAR);
      near.release(toldNear);
      toldNear = near.offer(FAR);
      toldFar = far.accept(NEAR, 11, 22, toldNear);
      if (round % 2 == 0) {
        near.accepted(FAR, 22, toldNear, toldFar);
      }
      near.release(toldNear);
      far.release(toldFar);
      before = round == 10 ? mappings() : before;
    }
    assertThat(mappings()).isLessThan(before + 20);
    shakeHands();
    Link here = nearLink(1);
    Link there = farLink(1);
    put(here, RingPair.DATA, 7);
    assertThat(take(there, RingPair.DATA)).isEqualTo(7);
  }

  private static long mappings() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).size();
  }

  @Test
  void connectionsThatEndInOrderDeliverAllAndLeaveNothing() throws Exception {
    long before = 0;
    for (int number = 1; number <= 100; number++) {
      shakeHands();
      Link here = nearLink(number);
      Link there = farLink(number);
      for (int i = 0; i < 100; i++) {
        put(here, RingPair.DATA, i);
      }
      here.finishOutput();
      here.close(); // its thread closes it when all has arrived
      for (int i = 0; i < 100; i++) {
        assertThat(take(there, RingPair.DATA)).isEqualTo(i);
      }
      await(there::over);
      there.close();
      before = number == 20 ? mappings() : before;
    }
    assertThat(nearOwner.failure.get()).isNull();
    assertThat(farOwner.failure.get()).isNull();
    assertThat(mappings()).isLessThan(before + 20);
  }

  /** As if its process was killed: nothing of it is there any more, and nothing was said. */
  @Test
  void whoVanishesIsMissedAndTheOthersStay() throws Exception {
    for (int round = 0; round < 10; round++) {
      shakeHands();
      Link here = nearLink(1);
      Link there = farLink(1);
      put(there, RingPair.DATA, 1);
      assertThat(take(here, RingPair.DATA)).isEqualTo(1);
      put(here, RingPair.DATA, 2); // never taken
      far.close();
      farSession.close();
      await(
          () -> {
            boolean ignored = here.pull();
            return here.over();
          });
      here.close();
      far = open("far");
    }
  }

  /** A card gives back what the queue pair had taken of the shared queue once it is in error. */
  @Test
  void messagesThatStopInTheirMiddleCostNoReceiveRequest() throws Exception {
    assumeThat(TestVerbs.isDevice()).isFalse();
    for (int round = 0; round < 2 * VerbsChannel.PROMISED; round++) {
      shakeHands();
      Link here = nearLink(1);
      Link there = farLink(1);
      put(there, RingPair.DATA, round);
      assertThat(take(here, RingPair.DATA)).as("round %d", round).isEqualTo(round);
      assertThat(TestVerbs.ask("loop_tear", number(here))).isEqualTo(1);
      for (Link each : List.of(here, there)) {
        each.finishOutput();
        each.close();
      }
      await(() -> near.toString().contains(" of 0 posted"));
    }
  }

  private static int number(Link link) {
    return ((VerbsLink) link).channel().number();
  }

  /** One that only receives has no request of its own that could fail. */
  @Test
  void aQueuePairThatFailsAtTheDeviceEndsItsConnectionAndNoOther() throws Exception {
    assumeThat(TestVerbs.isDevice()).isFalse();
    shakeHands();
    Link soundHere = nearLink(1);
    Link soundThere = farLink(1);
    shakeHands();
    Owner owner = new Owner();
    Link here = near.link(owner, FAR, 2, toldNear, nearSession, "test", CAPACITY);
    Link there = farLink(2);
    int fatal = 1; // IBV_EVENT_QP_FATAL
    int ignored = TestVerbs.ask("loop_raise_of", number(here), fatal);
    await(here::over);
    assertThat(owner.failure.get()).isEqualTo("the device says QUEUE_PAIR_FATAL");
    here.close();
    there.close();
    put(soundThere, RingPair.DATA, 7);
    assertThat(take(soundHere, RingPair.DATA)).isEqualTo(7);
    assertThat(nearOwner.failure.get()).isNull();
  }

  /** Where a completion queue holds less than twice what the shared queue would have. */
  @Test
  void connectionsFollowOneAnotherOnADeviceWithShortQueues() throws Exception {
    assumeThat(TestVerbs.isDevice()).isFalse();
    try {
      for (int most : new int[] {2000, 1000}) {
        int ignored = TestVerbs.ask("loop_max_completions", most);
        NetworkTransport small = open("small");
        try {
          for (int i = 0; i < 5; i++) {
            small.release(small.offer(FAR));
          }
        } finally {
          small.close();
        }
      }
    } finally {
      int ignored = TestVerbs.ask("loop_max_completions", 1 << 20);
    }
  }

  /** A frame from a peer that has the key and lies. */
  @Test
  void whoBreaksTheRulesLosesItsConnectionAndNoOther() throws Exception {
    Random random = new Random(3);
    shakeHands();
    Link soundHere = nearLink(1);
    Link soundThere = farLink(1);
    for (int lie = 0; lie < 12; lie++) {
      byte[] toldSoundly = toldNear;
      shakeHands();
      assertThat(toldNear).isNotEqualTo(toldSoundly);
      Owner owner = new Owner();
      Link here = near.link(owner, FAR, 2, toldNear, nearSession, "test", CAPACITY);
      Link there = farLink(2);
      lie((VerbsLink) there, lie, random);
      await(here::over);
      assertThat(owner.failure.get()).as("lie %d", lie).startsWith("protocol: ");
      here.close();
      there.close();
      put(soundThere, RingPair.DATA, lie);
      assertThat(take(soundHere, RingPair.DATA)).isEqualTo(lie);
    }
    assertThat(nearOwner.failure.get()).isNull();
  }

  private static void lie(VerbsLink from, int lie, Random random) {
    VerbsChannel channel = from.channel();
    assertThat(from.enterOutput()).isTrue();
    ByteBuffer slots = channel.slotBytes();
    int at = channel.slotAt();
    int bytes = 24;
    header(slots, at, VerbsLayout.DATA, 8);
    switch (lie) {
      case 0 -> slots.putInt(at, 1 << 30); // more than there is room for
      case 1 -> slots.putInt(at, -8);
      case 2 -> slots.putInt(at, 16); // more than there is
      case 3 -> bytes = 8; // less than a header
      case 4 -> slots.putInt(at + VerbsLayout.NUMBER, 77); // of another connection
      case 5 -> slots.put(at + VerbsLayout.KIND, (byte) 9);
      case 6 -> slots.put(at + VerbsLayout.KIND + 1, (byte) 2); // of no priority
      case 7 -> slots.putInt(at + 4, 1 << 30); // skips what is not there
      case 8 -> { // credit for what was never sent
        header(slots, at, VerbsLayout.CREDIT, 24);
        slots.putLong(at + 16, 1 << 20).putLong(at + 24, 0).putLong(at + 32, 0);
        bytes = VerbsLayout.CREDIT_FRAME_BYTES;
      }
      case 9 -> header(slots, at, VerbsLayout.CREDIT, 24); // half of it
      case 10 -> { // noise
        for (int i = 0; i < bytes; i++) {
          slots.put(at + i, (byte) (random.nextInt() | 1));
        }
      }
      default -> { // a word that tells nothing
        channel.sendWord();
        assertThat(channel.post()).isZero();
        from.exitOutput();
        return;
      }
    }
    channel.send(bytes);
    assertThat(channel.post()).isZero();
    from.exitOutput();
  }

  private static void header(ByteBuffer slots, int at, byte kind, int length) {
    slots.putInt(at, length).putInt(at + 4, 0).putInt(at + VerbsLayout.KIND, kind);
    slots.putInt(at + VerbsLayout.NUMBER, 2);
  }

  @Test
  void introductionsAreChecked() throws Exception {
    byte[] told = near.offer(FAR);
    byte[] shorter = java.util.Arrays.copyOf(told, told.length - 1);
    assertThatThrownBy(() -> far.accept(NEAR, 11, 22, shorter))
        .hasMessageContaining("39 bytes about verbs");
    assertThatThrownBy(() -> far.accept(NEAR, 11, 22, new byte[0]))
        .hasMessageContaining("does not want to");
    Random random = new Random(5);
    for (int i = 0; i < 200; i++) {
      byte[] wrong = told.clone();
      wrong[random.nextInt(24)] ^= (byte) (1 << random.nextInt(8));
      try {
        far.release(far.accept(NEAR, 11, 22, wrong));
      } catch (IOException e) {
        assertThat(e).hasMessageMatching("(?s).+");
      }
    }
    assertThatThrownBy(
            () -> near.link(nearOwner, FAR, 1, far.offer(NEAR), nearSession, "test", CAPACITY))
        .hasMessageContaining("does not exist");
    near.release(told);
    near.release(told); // nothing is there any more
  }

  /** As many connections as it was opened for, and the spare ones: then it says so. */
  @Test
  void beyondTheLimitItSaysSo() throws Exception {
    List<byte[]> all = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 1000; i++) {
                all.add(near.offer(FAR));
              }
            })
        .isInstanceOf(IOException.class);
    assertThat(all).hasSizeGreaterThan(10);
    all.forEach(near::release);
    near.release(near.offer(FAR));
  }
}

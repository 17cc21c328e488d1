// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.ring.RingReceiver;
import io.talaria.messaging.transport.DescriptorWatcher;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.transport.RingPair;
import io.talaria.testsupport.Seed;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two workers of UCX in one process, without nodes: handshakes that come to nothing, and lies. */
@Timeout(60)
class UcxTransportTest {
  private static final int[] CAPACITY = {64 << 10, 16 << 10};
  private static final int NEAR = 1;
  private static final int FAR = 2;
  private static final int LOOKS = 1 << 20;
  private static final int ROUNDS = 20 * Integer.getInteger("talaria.test.rounds", 30);

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

  /** What UCX does not look at. */
  private static final byte[] TOLD = {};

  private NetworkTransport near;
  private NetworkTransport far;
  private final Owner nearOwner = new Owner();
  private final Owner farOwner = new Owner();
  private final List<SocketChannel> channels = new ArrayList<>();
  private SocketChannel nearSession;
  private SocketChannel farSession;

  @BeforeEach
  void open() throws Exception {
    Ucx.defaultSetting("UCX_KEEPALIVE_INTERVAL", "3600s"); // UCX's own look at peers is far away
    assumeThat(Ucx.unavailableReason()).isEmpty();
    near = UcxTransport.open("near", 10);
    far = UcxTransport.open("far", 10);
    near.begin(() -> {}, false);
    far.begin(() -> {}, false);
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

  private byte[] accept() throws IOException {
    return far.accept(NEAR, 11, 22, near.offer(FAR));
  }

  private Link nearLink(int number) throws IOException {
    return near.link(nearOwner, FAR, number, TOLD, nearSession, "test", CAPACITY);
  }

  private Link farLink(int number) throws IOException {
    return far.link(farOwner, NEAR, number, TOLD, farSession, "test", CAPACITY);
  }

  private static void put(Link link, int priority, long value) {
    RingProducer ring = link.out(priority);
    long claim = ring.tryClaim(16);
    assertThat(claim).isNotNegative();
    ring.memory().set(ValueLayout.JAVA_LONG, ring.offset(claim) + 8, value);
    ring.commit(claim, 16);
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
    await(condition, near, far);
  }

  private void await(Condition condition, NetworkTransport... networks) {
    for (int i = 0; !condition.holds(); i++) {
      assertThat(i).as("%s, %s", nearOwner.failure, farOwner.failure).isLessThan(LOOKS);
      turn(networks);
    }
  }

  private long take(Link link, int priority) {
    return take(link, priority, near, far);
  }

  private long take(Link link, int priority, NetworkTransport... networks) {
    RingReceiver in = link.in(priority);
    await(() -> in.peek() != 0, networks);
    long value = in.memory().get(ValueLayout.JAVA_LONG, in.offset() + 8);
    in.advance();
    in.publish();
    return value;
  }

  @Test
  void recordsGoBothWaysInOrder() throws Exception {
    sessions();
    near.accepted(FAR, 22, TOLD, accept());
    Link here = nearLink(1);
    Link there = farLink(1);
    assertThat(here.transport()).isEqualTo("ucx");
    assertThat(here.reason()).startsWith("test, by ").contains("/");
    for (int priority = 0; priority < RingPair.COUNT; priority++) {
      for (long i = 0; i < 5_000; i++) {
        put(here, priority, i);
        put(there, priority, -i);
        assertThat(take(there, priority)).isEqualTo(i);
        assertThat(take(here, priority)).isEqualTo(-i);
      }
    }
  }

  /** The caller may send before the other side has heard that it is ready. */
  @Test
  void whatComesBeforeItsConnectionWaitsForIt() throws Exception {
    sessions();
    near.accepted(FAR, 22, TOLD, accept());
    Link here = nearLink(1);
    for (long i = 0; i < 500; i++) {
      put(here, RingPair.DATA, i);
    }
    for (int i = 0; i < 2_000; i++) {
      turn(near, far);
    }
    Link there = farLink(1);
    for (long i = 0; i < 500; i++) {
      assertThat(take(there, RingPair.DATA)).isEqualTo(i);
    }
  }

  /** What an earlier connection has left under way is not the next one's. */
  @Test
  void whatBelongsToAConnectionThatHasEndedIsDropped() throws Exception {
    sessions();
    near.accepted(FAR, 22, TOLD, accept());
    Link old = nearLink(1);
    put(old, RingPair.DATA, 1);
    near.send();
    Link next = nearLink(2);
    put(next, RingPair.DATA, 2);
    put(next, RingPair.CONTROL, 3);
    Link there = farLink(2);
    assertThat(take(there, RingPair.DATA)).isEqualTo(2);
    assertThat(take(there, RingPair.CONTROL)).isEqualTo(3);
    assertThat(there.in(RingPair.DATA).peek()).isZero();
  }

  /** Each has made endpoints of which the other knows nothing: they are made up for. */
  @Test
  void handshakesThatComeToNothingDoNotMixUpTheNextOnes() throws Exception {
    int number = 0;
    for (int round = 1; round <= 12; round++) {
      for (int i = 0; i < round % 4; i++) {
        accept(); // and the answer is lost
      }
      if (round % 3 == 0) {
        near.accept(FAR, 22, 11, far.offer(NEAR));
      }
      sessions();
      near.accepted(FAR, 22, TOLD, accept());
      number++;
      Link here = nearLink(number);
      Link there = farLink(number);
      for (long i = 0; i < 100; i++) {
        put(here, RingPair.DATA, i);
        put(there, RingPair.CONTROL, -i);
        assertThat(take(there, RingPair.DATA)).as("round %d", round).isEqualTo(i);
        assertThat(take(here, RingPair.CONTROL)).as("round %d", round).isEqualTo(-i);
      }
      here.close(); // without a word to the other: the endpoint goes by force, at both ends
      if (round % 2 == 0) {
        there.close();
      }
    }
    assertThat(nearOwner.failure.get()).isNull();
  }

  @Test
  void anEndInOrderLeavesTheEndpointForTheNextConnection() throws Exception {
    for (int number = 1; number <= 50; number++) {
      sessions();
      near.accepted(FAR, 22, TOLD, accept());
      Link here = nearLink(number);
      Link there = farLink(number);
      put(here, RingPair.DATA, number);
      assertThat(take(there, RingPair.DATA)).isEqualTo(number);
      here.finishOutput();
      there.finishOutput();
      await(() -> here.over() && there.over());
      here.close();
      there.close();
      assertThat(((UcxLink) here).endedInOrder()).isTrue();
      assertThat(((UcxLink) here).channel().isOpen()).isTrue();
    }
    assertThat(farOwner.failure.get()).isNull();
  }

  /** A new process with the old one's id: nothing of the old one is used. */
  @Test
  void anotherProcessWithTheSameIdGetsAWayOfItsOwn() throws Exception {
    for (long incarnation = 22; incarnation < 30; incarnation++) {
      long there = incarnation;
      sessions();
      near.accepted(FAR, there, TOLD, far.accept(NEAR, 11, there, near.offer(FAR)));
      Link here = nearLink(1);
      Link other = farLink(1);
      put(here, RingPair.DATA, incarnation);
      assertThat(take(other, RingPair.DATA)).isEqualTo(incarnation);
      far.close(); // says so, whatever is there
      far = UcxTransport.open("far", 10);
      far.begin(() -> {}, false);
      await(here::over);
      assertThat(nearOwner.failure.getAndSet(null)).isEqualTo("its node was closed");
      here.close();
    }
  }

  @Test
  void whoBreaksTheRulesLosesItsConnectionAndNoOther() throws Exception {
    NetworkTransport third = UcxTransport.open("third", 10);
    try {
      third.begin(() -> {}, false);
      sessions();
      near.accepted(FAR, 22, TOLD, accept());
      Link here = nearLink(1);
      Link there = farLink(1);
      Owner soundOwner = new Owner();
      Owner thirdOwner = new Owner();
      near.accepted(3, 33, TOLD, third.accept(NEAR, 11, 33, near.offer(3)));
      Link sound = near.link(soundOwner, 3, 1, TOLD, nearSession, "test", CAPACITY);
      Link other = third.link(thirdOwner, NEAR, 1, TOLD, farSession, "test", CAPACITY);
      UcxTurns liar = ((UcxTransport) far).turns();
      UcxChannel channel = ((UcxLink) there).channel();
      assertThat(liar.enter()).isTrue();
      channel.slotBytes().putInt(channel.slotAt(), 1 << 30); // more than there is room for
      channel.slotBytes().putInt(channel.slotAt() + 4, 0);
      channel.slotBytes().putInt(channel.slotAt() + UcxLayout.KIND, UcxLayout.DATA);
      channel.slotBytes().putInt(channel.slotAt() + UcxLayout.NUMBER, 1);
      channel.sendSlot(UcxLayout.HEADER_BYTES);
      liar.exit();
      await(here::over);
      assertThat(nearOwner.failure.get()).startsWith("protocol: a frame of 1073741824 bytes");
      put(other, RingPair.DATA, 7);
      for (int i = 0; sound.in(RingPair.DATA).peek() == 0; i++) {
        assertThat(i).isLessThan(LOOKS);
        turn(near, third);
      }
      assertThat(soundOwner.failure.get()).isNull();
    } finally {
      third.close();
    }
  }

  /** UCX cannot be armed while it cannot give away what it has: nobody runs in a circle for it. */
  @Test
  void aWorkerThatRefusesToBeArmedIsLookedAtByTheClock() throws Exception {
    sessions();
    near.accepted(FAR, 22, TOLD, accept());
    int[] large = {1 << 20, 16 << 10};
    Link here = near.link(nearOwner, FAR, 1, TOLD, nearSession, "test", large);
    Link there = far.link(farOwner, NEAR, 1, TOLD, farSession, "test", large);
    put(here, RingPair.DATA, 0);
    assertThat(take(there, RingPair.DATA)).isZero();
    long last = 0;
    RingProducer ring = here.out(RingPair.DATA);
    for (long claim = ring.tryClaim(16); claim >= 0; claim = ring.tryClaim(16)) {
      ring.memory().set(ValueLayout.JAVA_LONG, ring.offset(claim) + 8, ++last);
      ring.commit(claim, 16);
    }
    for (int i = 0; i < 100; i++) {
      turn(near); // more than UCX has room for
    }
    for (int i = 0; !near.arm(); i++) {
      assertThat(i).isLessThan(100);
    }
    assertThat(near.maxSleepMs()).isEqualTo(1);
    for (long i = 1; i <= last; i++) {
      assertThat(take(there, RingPair.DATA)).isEqualTo(i);
    }
    await(() -> near.arm() && near.maxSleepMs() == 0);
  }

  /** UCX needs some rounds for it, of which no event tells. */
  @Test
  void anEndpointThatWasClosedIsLookedAfter() throws Exception {
    sessions();
    near.accepted(FAR, 22, TOLD, accept());
    Link here = nearLink(1);
    Link there = farLink(1);
    put(here, RingPair.DATA, 5);
    assertThat(take(there, RingPair.DATA)).isEqualTo(5);
    await(() -> near.maxSleepMs() == 0);
    here.close(); // not in order
    int rounds = 0;
    for (; near.maxSleepMs() != 0; rounds++) {
      assertThat(rounds).isLessThan(1_000);
      near.bring();
    }
    assertThat(rounds).isGreaterThan(2);
  }

  /**
   * One sleeps each time, on what the other sends after random pauses, beside a thread that makes
   * progress as one does that waits for an answer.
   */
  @Test
  void whoSleepsIsWokenForWhatComes() throws Exception {
    long seed = Seed.next();
    Semaphore woken = new Semaphore(0);
    NetworkTransport sleeper = UcxTransport.open("sleeper", 10);
    Thread beside = null;
    try {
      sleeper.begin(woken::release, false);
      sessions();
      sleeper.accepted(FAR, 22, TOLD, far.accept(NEAR, 11, 22, sleeper.offer(FAR)));
      Link here = sleeper.link(nearOwner, FAR, 1, TOLD, nearSession, "test", CAPACITY);
      Link there = farLink(1);
      beside = Thread.ofPlatform().daemon().start(() -> progressNowAndThen(here, seed));
      Random random = new Random(seed);
      for (long i = 0; i < ROUNDS; i++) {
        int priority = RingPair.DATA; // what comes on it is the poller's, whichever thread takes it
        woken.drainPermits();
        while (!sleeper.arm()) {
          turn(sleeper);
        }
        LockSupport.parkNanos(random.nextInt(4) == 0 ? random.nextInt(200_000) : 0);
        put(there, priority, i);
        turn(far);
        while (here.in(priority).peek() == 0) {
          assertThat(woken.tryAcquire(30, TimeUnit.SECONDS))
              .as("seed %d, round %d: %s; %s", seed, i, sleeper, far)
              .isTrue();
          turn(sleeper);
          turn(far); // it may have been in flight
        }
        assertThat(take(here, priority, sleeper, far)).isEqualTo(i);
      }
    } finally {
      if (beside != null) {
        beside.interrupt();
        beside.join();
      }
      sleeper.close();
    }
  }

  private static void progressNowAndThen(Link link, long seed) {
    Random random = new Random(~seed);
    while (!Thread.currentThread().isInterrupted()) {
      link.bring();
      if (random.nextInt(16) == 0) {
        LockSupport.parkNanos(random.nextInt(100_000));
      }
    }
  }

  /** Descriptors of this process that are sets of others, which UCX has, too. */
  private static int sets() throws IOException {
    int count = 0;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : all) {
        try {
          if (Files.readSymbolicLink(each).toString().equals("anon_inode:[eventpoll]")) {
            count++;
          }
        } catch (NoSuchFileException e) {
          // Closed meanwhile: that of the directory.
        }
      }
    }
    return count;
  }

  @Test
  void whatCannotBeWatchedLeavesNoDescriptor() throws Exception {
    int before = sets();
    for (int i = 0; i < 10; i++) {
      assertThatThrownBy(() -> DescriptorWatcher.watching(-1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("epoll_ctl");
    }
    assertThat(sets()).isEqualTo(before);
  }

  @Test
  void offersThatCannotBeAreRefused() throws Exception {
    assertThatThrownBy(() -> far.accept(NEAR, 11, 22, new byte[3]))
        .isInstanceOf(IOException.class)
        .hasMessage("3 bytes about UCX");
    byte[] offer = near.offer(FAR);
    offer[offer.length - 1] ^= 1;
    assertThatThrownBy(() -> far.accept(NEAR, 11, 22, offer))
        .isInstanceOf(IOException.class)
        .hasMessage("a worker address whose checksum is wrong");
    assertThatThrownBy(() -> near.accepted(FAR, 22, TOLD, new byte[16]))
        .isInstanceOf(IOException.class)
        .hasMessage("16 bytes about UCX");
    byte[] far1 = far.offer(NEAR);
    far1[0] = 11; // about whom it answers
    far1[8] = (byte) 200; // it has made that many
    assertThatThrownBy(() -> near.accept(FAR, 22, 11, far1))
        .isInstanceOf(IOException.class)
        .hasMessage("the other side has made 200 endpoints, this one 0");
    assertThatThrownBy(() -> far.link(farOwner, NEAR, 1, TOLD, null, "test", CAPACITY))
        .isInstanceOf(IOException.class)
        .hasMessage("its channel by UCX has failed");
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Waits;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.ring.RingReceiver;
import io.talaria.messaging.wire.EncryptedWire;
import io.talaria.messaging.wire.Wire;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a thread that waits for a response leaves to the poller of its node, and what is still told
 * and read of a session that ends.
 */
@Timeout(60)
class TcpLinkTest {
  private static final int[] CAPACITY = {64 << 10, 64 << 10};
  private static final int RECORD = 64;

  /** The same key for both directions. */
  private static final byte[] SECRET = new byte[64];

  private static final long LIMIT_NS = 20_000_000_000L;

  /** Counts wake-ups of its poller. */
  private static final class Owner implements LinkOwner {
    final AtomicInteger woken = new AtomicInteger();
    String ending = "";

    @Override
    public void wakePoller() {
      woken.incrementAndGet();
    }

    @Override
    public void wakeWaiters() {}

    @Override
    public void ending(String reason) {
      assertThat(ending).as("the reason given before").isEmpty();
      ending = reason;
    }

    @Override
    public void failed(String reason) {
      throw new AssertionError(reason);
    }
  }

  private final Owner owner = new Owner();
  private TcpLink here;
  private TcpLink there;

  @BeforeEach
  void connect() throws IOException {
    connect(false);
  }

  private void connect(boolean encrypted) throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(any)) {
      SocketChannel near = SocketChannel.open(server.getLocalAddress());
      SocketChannel far = server.accept();
      here = link(owner, near, wire(near, encrypted));
      there = link(new Owner(), far, wire(far, encrypted));
    }
  }

  private void reconnect(boolean encrypted) throws IOException {
    close();
    connect(encrypted);
  }

  private static Wire wire(SocketChannel session, boolean encrypted) {
    return encrypted ? new EncryptedWire(session, SECRET, nothing()) : new Wire(session);
  }

  private static TcpLink link(Owner of, SocketChannel session, Wire wire) throws IOException {
    session.configureBlocking(false);
    return new TcpLink(of, session, wire, nothing(), "a test", CAPACITY, CAPACITY);
  }

  private static ByteBuffer nothing() {
    return ByteBuffer.allocate(0);
  }

  @AfterEach
  void close() {
    here.close();
    there.close();
  }

  private static void put(TcpLink link, int priority) {
    RingProducer ring = link.out(priority);
    ring.commit(ring.tryClaim(RECORD), RECORD);
  }

  /** Looks as a leader does until a record of a priority is there; whether the poller must look. */
  private boolean bringsForPoller(int priority) {
    boolean forPoller = false;
    long end = System.nanoTime() + LIMIT_NS;
    while (here.in(priority).peek() == 0 && System.nanoTime() < end) {
      forPoller |= here.bring();
    }
    assertThat(here.in(priority).peek()).isEqualTo(RECORD);
    return forPoller;
  }

  @Test
  void aResponseIsNotForThePoller() {
    put(there, RingPair.CONTROL);
    there.push();
    assertThat(bringsForPoller(RingPair.CONTROL)).isFalse();
  }

  @Test
  void aMessageIsForThePoller() {
    put(there, RingPair.DATA);
    there.push();
    assertThat(bringsForPoller(RingPair.DATA)).isTrue();
  }

  @Test
  void creditIsForThePoller() {
    put(here, RingPair.DATA);
    here.push();
    long end = System.nanoTime() + LIMIT_NS;
    while (there.in(RingPair.DATA).peek() == 0 && System.nanoTime() < end) {
      there.pull();
    }
    there.in(RingPair.DATA).advance();
    there.in(RingPair.DATA).publish();
    there.push();
    boolean forPoller = false;
    while (!forPoller && System.nanoTime() < end) {
      forPoller = here.bring();
    }
    assertThat(forPoller).isTrue();
  }

  /** A thread waits for the response. Others that follow it do not hold the credit back. */
  @Test
  void aResponseGoesBeforeCreditAndNoSecondOneDoes() throws Exception {
    List<Byte> kinds = new ArrayList<>();
    SocketChannel session = there.session();
    Wire noting =
        new Wire(session) {
          @Override
          public long write(ByteBuffer[] from) throws IOException {
            kinds.add(from[0].get(TcpLayout.KIND));
            if (kinds.size() < 5) {
              put(there, RingPair.CONTROL);
            }
            return super.write(from);
          }
        };
    there = link(new Owner(), session, noting);
    put(here, RingPair.DATA);
    here.push();
    RingReceiver in = there.in(RingPair.DATA);
    long end = System.nanoTime() + LIMIT_NS;
    while (in.peek() == 0 && System.nanoTime() < end) {
      there.pull();
    }
    in.advance();
    in.publishDelivered(in.position());
    in.publish();
    put(there, RingPair.CONTROL);
    there.push();
    assertThat(kinds)
        .startsWith(TcpLayout.DATA, TcpLayout.CREDIT, TcpLayout.DATA)
        .containsOnlyOnce(TcpLayout.CREDIT);
  }

  @Test
  void requestsCloseTogetherAreSentByTheirThread() {
    for (int i = 0; i < 100; i++) {
      put(here, RingPair.DATA);
      here.wakePeerAtOnce();
    }
    assertThat(owner.woken).hasValue(0);
    assertThat(here.out(RingPair.DATA).unconsumedBytes()).isZero(); // all are in the session
  }

  @Test
  void messagesCloseTogetherAreLeftToThePoller() {
    for (int i = 0; i < 100; i++) {
      put(here, RingPair.DATA);
      here.wakePeer();
    }
    assertThat(owner.woken).hasPositiveValue();
  }

  /** The other process was killed, and this end sends until it knows. */
  private void sendInVain() throws InterruptedException {
    there.close();
    long end = System.nanoTime() + LIMIT_NS;
    do {
      if (here.out(RingPair.DATA).hasRoom(RECORD)) {
        put(here, RingPair.DATA);
      }
      here.push();
      Thread.sleep(1);
    } while (owner.ending.isEmpty() && System.nanoTime() < end);
    assertThat(owner.ending).startsWith("cannot send: ");
  }

  private void assertSendsNoMore() {
    assertThat(here.blocked()).as("waits until the session accepts more").isFalse();
    assertThat(here.armOutput()).as("the poller may sleep").isTrue();
    put(here, RingPair.CONTROL);
    here.wakePeerAtOnce();
    here.finishOutput();
    assertThat(here.push()).isFalse();
    assertThat(here.armOutput()).as("the poller may sleep").isTrue();
  }

  /** Reads the session to its end; how many messages came. */
  private int readToTheEnd() {
    long end = System.nanoTime() + LIMIT_NS;
    while (!here.over() && System.nanoTime() < end) {
      here.pull();
    }
    assertThat(here.over()).isTrue();
    RingReceiver in = here.in(RingPair.DATA);
    int count = 0;
    while (in.peek() != 0) {
      in.advance();
      count++;
    }
    return count;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFailedSendLeavesWhatHasArrivedToBeRead(boolean encrypted) throws Exception {
    reconnect(encrypted);
    for (int i = 0; i < 3; i++) {
      put(there, RingPair.DATA);
      there.push();
    }
    sendInVain();
    assertThat(owner.woken).as("wake-ups of the poller, which reads the rest").hasPositiveValue();
    assertThat(here.over()).as("over, with messages in the session").isFalse();
    assertSendsNoMore();
    assertThat(readToTheEnd()).isEqualTo(3);
    assertSendsNoMore();
  }

  /** Else the selector would find again and again that it does. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void afterAFailedSendNothingWaitsUntilTheSessionAcceptsMore(boolean encrypted) throws Exception {
    reconnect(encrypted);
    here.session().setOption(StandardSocketOptions.SO_SNDBUF, 1);
    put(there, RingPair.DATA);
    there.push();
    for (int priority = 0; priority < RingPair.COUNT; priority++) {
      while (here.out(priority).hasRoom(2 * RECORD)) {
        put(here, priority);
      }
    }
    here.push();
    assertThat(here.blocked()).isTrue();
    sendInVain();
    assertSendsNoMore();
    assertThat(readToTheEnd()).isOne();
  }

  /** For example for lack of memory, while the other process lives and waits for more. */
  @Test
  void aFailedSendEndsTheOtherEnd() throws Exception {
    SocketChannel session = here.session();
    Wire broken =
        new Wire(session) {
          @Override
          public long write(ByteBuffer[] from) throws IOException {
            throw new IOException("the test refuses");
          }
        };
    here = link(owner, session, broken);
    put(here, RingPair.DATA);
    here.push();
    assertSendsNoMore();
    long end = System.nanoTime() + LIMIT_NS;
    while (!there.over() && System.nanoTime() < end) {
      there.pull();
    }
    assertThat(there.over()).isTrue();
    there.close();
    assertThat(readToTheEnd()).isZero();
  }

  /** Nothing is sent any more then: who waits for that waits in vain. */
  @Test
  void whatIsNotSentWhenTheOtherEndHasEndedIsLost() {
    assertThat(here.outputLost()).isFalse();
    there.finishOutput();
    assertThat(readToTheEnd()).isZero();
    put(here, RingPair.CONTROL);
    here.push();
    assertThat(here.out(RingPair.CONTROL).unconsumedBytes()).isPositive();
    assertThat(here.outputLost()).isTrue();
  }

  /** The other end has read it, and ends, before the thread that has sent it goes on. */
  @Test
  void whatWasSentBeforeTheOtherEndEndedIsNotLost() throws Exception {
    here =
        link(
            owner,
            here.session(),
            new Wire(here.session()) {
              @Override
              public long write(ByteBuffer[] from) throws IOException {
                long wrote = super.write(from);
                there.finishOutput();
                assertThat(readToTheEnd()).isZero();
                assertThat(here.outputLost()).as("lost, while it is being sent").isFalse();
                return wrote;
              }
            });
    put(here, RingPair.CONTROL);
    here.push();
    assertThat(here.over()).isTrue();
    assertThat(here.out(RingPair.CONTROL).unconsumedBytes()).isZero();
    assertThat(here.outputLost()).isTrue();
  }

  /** The thread that sends may have looked for that just before it finds that this is the end. */
  @Test
  void whatWasDeliveredLastIsToldBeforeTheEnd() throws Exception {
    for (int round = 0; round < 200; round++) { // the moment is short
      reconnect(false);
      put(here, RingPair.DATA);
      here.push();
      RingReceiver in = there.in(RingPair.DATA);
      long end = System.nanoTime() + LIMIT_NS;
      while (in.peek() == 0 && System.nanoTime() < end) {
        there.pull();
      }
      in.advance();
      TcpLink sends = there;
      CountDownLatch looked = new CountDownLatch(100);
      AtomicBoolean ended = new AtomicBoolean();
      Thread sending =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    while (!ended.get()) {
                      sends.push();
                      looked.countDown();
                    }
                  });
      Waits.await(looked);
      in.publishDelivered(in.position());
      there.finishOutput();
      ended.set(true);
      sending.join();
      assertThat(readToTheEnd()).isZero();
      RingProducer out = here.out(RingPair.DATA);
      assertThat(out.delivered()).as("delivered in round %d", round).isEqualTo(out.claimed());
    }
  }

  /** As of a process that was killed while it sent. */
  @Test
  void whatCameBeforeAnEncryptedSessionWasCutOffIsRead() throws Exception {
    reconnect(true);
    for (int i = 0; i < 3; i++) {
      put(there, RingPair.DATA);
      there.push();
    }
    there.session().write(ByteBuffer.wrap(new byte[] {64, 0, 0, 0, 1}));
    there.close();
    assertThat(readToTheEnd()).isEqualTo(3);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.verbs.Access;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Context;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.Path;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.Status;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Peers that set a connection up as they should and then say what they must not: their connection
 * is closed with the reason, and no other notices.
 */
@ExtendWith(Provider.class)
@Timeout(600)
class HostilePeerTest {
  private static final int SLICE = 4096;
  private static final long SOME_LARGE = 100_000;

  /** A peer that does the exchange by hand and has the queue pair to itself. */
  private static final class Peer implements AutoCloseable {
    private static final int REQUESTS = 16;

    private final Context context;
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final MemoryRegion region;
    private final SendRequests sends;
    private final SocketChannel channel;

    Peer(InetSocketAddress address) throws IOException {
      try (DeviceList devices = DeviceList.open()) {
        context = devices.first().open();
      }
      domain = context.protectionDomain();
      queue = context.completionQueue(2 * REQUESTS);
      region = domain.allocate(2 * SLICE, Access.LOCAL_WRITE, Access.REMOTE_READ);
      pair = QueuePair.rc(domain).send(queue, REQUESTS).receive(queue, REQUESTS).open();
      sends = SendRequests.allocate(domain, 1, 1);
      ReceiveRequests receives = ReceiveRequests.allocate(domain, REQUESTS, 1);
      for (int i = 0; i < REQUESTS; i++) {
        receives.request(i).local(region, SLICE, SLICE);
      }
      pair.initialize(1, Access.REMOTE_READ); // devices take receive requests from then on
      assertThat(pair.post(receives, 0, REQUESTS)).isZero();
      channel = SocketChannel.open(address);
      exchange();
      greet();
    }

    private void exchange() throws IOException {
      Path path =
          Path.by(1, context.preferredGid(1).orElseThrow().index())
              .withMtu(context.port(1).activeMtuBytes());
      QueuePairAddress own = pair.address(path, 0);
      Exchange exchange = new Exchange(channel, Optional.empty(), true);
      ByteBuffer ignored = exchange.receive(Frame.CHALLENGE);
      Offer offer = new Offer(7, own, path.mtuBytes(), SLICE, REQUESTS, 1, SOME_LARGE);
      exchange.send(Frame.OFFER, offer.toBytes());
      Offer answer = Offer.of(exchange.receive(Frame.ANSWER));
      pair.readyToReceive(answer.address(), path);
      pair.readyToSend(own.packetNumber(), path);
      exchange.send(Frame.READY, new byte[0]);
    }

    /** As a good peer: from then on the other side's handler knows the connection. */
    private void greet() {
      say(Immediate.of(Immediate.DATA, 0, 0), 8);
      awaitAnswer();
    }

    void awaitAnswer() {
      Completions done = Completions.allocate(1);
      Pair.await(
          "an answer",
          () ->
              queue.poll(done) == 1
                  && done.isReceive(0)
                  && Immediate.kind(done.immediate(0)) != Immediate.CREDIT);
      assertThat(done.status(0)).isEqualTo(Status.SUCCESS);
    }

    private void post(int bytes) {
      if (bytes > 0) {
        sends.local(region, 0, bytes);
      }
      sends.signaled();
      assertThat(pair.post(sends, 0, 1)).isZero();
    }

    void say(int word, int bytes) {
      sends.sendImmediate(0, word);
      post(bytes);
    }

    void sayWithoutWord(int bytes) {
      sends.send(0);
      post(bytes);
    }

    /** Tells of a large message. */
    void offer(long address, long bytes, int key, int headerBytes) {
      ByteBuffer header = region.memory().asByteBuffer().order(ByteOrder.BIG_ENDIAN);
      header.putLong(0, address).putLong(8, bytes).putInt(16, key).putInt(20, 0);
      say(Immediate.of(Immediate.LARGE, 0, 0), headerBytes);
    }

    @Override
    public void close() throws IOException {
      channel.close();
      pair.close();
      region.close();
      queue.close();
      domain.close();
      context.close();
    }
  }

  /** What a peer does that it must not. */
  @FunctionalInterface
  private interface Mischief {
    void by(Peer peer) throws Exception;
  }

  private static final class Ends implements ConnectionHandler {
    final LinkedBlockingQueue<CloseReason> reasons = new LinkedBlockingQueue<>();

    @Override
    public void message(Connection connection, Message message) {
      Pair.answer(connection, message.longAt(0));
    }

    @Override
    public void closed(Connection connection, CloseReason reason) {
      reasons.add(reason);
    }
  }

  private static void check(Mischief mischief, CloseReason.Kind kind, String words)
      throws Exception {
    Ends ends = new Ends();
    try (Pair pair = new Pair(Pair.options().largeBytes((int) SOME_LARGE), ends)) {
      AtomicLong answer = new AtomicLong();
      Connection good = pair.connect((c, m) -> answer.set(m.longAt(0)));
      talk(good, answer, 1);
      try (Peer peer = new Peer(pair.address)) {
        mischief.by(peer);
        CloseReason reason = ends.reasons.poll(Pair.LIMIT_NS, TimeUnit.NANOSECONDS);
        assertThat(reason).as(words).isNotNull();
        assertThat(reason.kind()).as(reason.toString()).isEqualTo(kind);
        assertThat(reason.text()).contains(words);
      }
      talk(good, answer, 2);
      assertThat(good.isOpen()).isTrue();
      Pair.await("one connection", () -> pair.right.metrics().connections() == 1);
    }
  }

  private static void talk(Connection connection, AtomicLong answer, long word) throws Exception {
    Pair.send(connection, word, 0);
    Pair.await("an answer", () -> answer.get() == word);
  }

  @Test
  void aMessageWithoutItsWordIsRefused() throws Exception {
    check(
        peer -> peer.sayWithoutWord(8),
        CloseReason.Kind.PROTOCOL,
        "has sent a message without a word, or a wrong one");
  }

  @Test
  void wordsThatMeanNothingAreRefused() throws Exception {
    for (int word : new int[] {3, 1 << 20, -1, Integer.MIN_VALUE}) {
      check(
          peer -> peer.say(word, 8),
          CloseReason.Kind.PROTOCOL,
          "has sent a message without a word, or a wrong one");
    }
  }

  @Test
  void thanksForALargeMessageThatWasNotSentAreRefused() throws Exception {
    check(
        peer -> peer.say(Immediate.of(Immediate.CREDIT, 1, 0), 0),
        CloseReason.Kind.PROTOCOL,
        "has taken a large message that was not sent");
  }

  @Test
  void moreCreditThanThereIsHarmsNobody() throws Exception {
    Ends ends = new Ends();
    try (Pair pair = new Pair(Pair.options(), ends)) {
      try (Peer peer = new Peer(pair.address)) {
        for (int i = 0; i < 8; i++) {
          peer.say(Immediate.of(Immediate.DATA, 0, Immediate.MAX_CREDITS), 8);
        }
        Pair.await("all messages", () -> pair.right.metrics().messagesIn() == 9);
        // An answer that finds its peer closed would end the connection as failed.
        for (int i = 0; i < 8; i++) {
          peer.awaitAnswer();
        }
      }
      CloseReason reason = ends.reasons.poll(Pair.LIMIT_NS, TimeUnit.NANOSECONDS);
      assertThat(reason).isNotNull();
      assertThat(reason.kind()).as(reason.toString()).isEqualTo(CloseReason.Kind.PEER);
    }
  }

  @Test
  void largeMessagesThatMayNotBeAreRefused() throws Exception {
    String words = "the peer offers a large message that it may not";
    long[] lengths = {0, -1, SOME_LARGE + 1, Long.MAX_VALUE, Long.MIN_VALUE};
    for (long length : lengths) {
      check(
          peer -> peer.offer(peer.region.remoteAddress(), length, peer.region.remoteKey(), 24),
          CloseReason.Kind.PROTOCOL,
          words);
    }
    for (int headerBytes : new int[] {0, 23, 25}) {
      check(
          peer -> peer.offer(peer.region.remoteAddress(), 8, peer.region.remoteKey(), headerBytes),
          CloseReason.Kind.PROTOCOL,
          words);
    }
  }

  @Test
  void aKeyThatIsWrongFailsThatConnectionOnly() throws Exception {
    check(
        peer -> peer.offer(peer.region.remoteAddress(), 8, peer.region.remoteKey() + 0x123456, 24),
        CloseReason.Kind.FAILED,
        "a request failed: ");
    check(
        peer ->
            peer.offer(peer.region.remoteAddress() + SLICE, SLICE + 1, peer.region.remoteKey(), 24),
        CloseReason.Kind.FAILED,
        "a request failed: ");
  }

  @Test
  void aMessageLongerThanASliceFailsThatConnectionOnly() throws Exception {
    check(
        peer -> peer.say(Immediate.of(Immediate.DATA, 0, 0), SLICE + 8),
        CloseReason.Kind.FAILED,
        "receiving failed: ");
  }

  @Test
  void bytesOnTheConnectionThatHasSetItUpEndIt() throws Exception {
    check(
        peer -> {
          assertThat(peer.channel.write(ByteBuffer.allocate(8))).isPositive();
        },
        CloseReason.Kind.PEER,
        "the peer has sent what it must not");
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.nio.authentication.KeyProof;
import io.talaria.verbs.Access;
import io.talaria.verbs.cm.ConnectionEvent;
import io.talaria.verbs.cm.ConnectionId;
import io.talaria.verbs.cm.ConnectionParameters;
import io.talaria.verbs.cm.EventChannel;
import io.talaria.verbs.cm.PortSpace;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Connections that RDMA CM has set up. */
@ExtendWith(Provider.class)
@Timeout(300)
class CmTest {
  private static final int LIMIT_MS = 60_000;
  @TempDir Path directory;

  private NetOptions.Builder keyed(String name, int fill) throws IOException {
    byte[] bytes = new byte[32];
    Arrays.fill(bytes, (byte) fill);
    return Pair.options().rdmaCm().keyFile(HandshakeTest.keyFile(directory.resolve(name), bytes));
  }

  @AfterEach
  void nothingFailsAnyMore() {
    if (!Provider.isDevice()) {
      Provider.fail("", 0, 0);
    }
  }

  @Test
  void messagesAndRemoteMemoryGoByIt() throws Exception {
    AtomicLong answered = new AtomicLong();
    try (Pair pair = new Pair(Pair.cm(), (c, m) -> Pair.answer(c, m.longAt(0) + m.longAt(8)))) {
      Connection connection = pair.connect((c, m) -> answered.set(m.longAt(0)));
      for (int i = 1; i <= 100; i++) {
        Pair.send(connection, i, 1000);
        long expected = i + 1000L;
        Pair.await("an answer", () -> answered.get() == expected);
      }
      RegisteredMemory there =
          pair.right.allocate(64, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
      RegisteredMemory here = pair.left.allocate(64, Access.REMOTE_READ);
      here.segment().set(ValueLayout.JAVA_LONG, 0, 4711);
      connection.write(there.handle(), 8, here, 0, 8).get(LIMIT_MS, TimeUnit.MILLISECONDS);
      assertThat(there.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(4711);
      connection.read(there.handle(), 8, here, 16, 8).get(LIMIT_MS, TimeUnit.MILLISECONDS);
      assertThat(here.segment().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(4711);
      AtomicInteger done = new AtomicInteger();
      OperationListener listener =
          (c, t, s) -> done.addAndGet(s == OperationListener.DONE ? 1 : 99);
      assertThat(connection.fetchAdd(there.handle(), 8, 1, here, 24, 0, listener))
          .isEqualTo(Connection.SENT);
      Pair.await("the addition", () -> done.get() == 1);
      assertThat(there.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(4712);
      assertThat(pair.left.toString()).contains("of RDMA CM");
    }
  }

  @Test
  void theFirstMessageOfTheOneThatAcceptsArrives() throws Exception {
    int rounds = Provider.isDevice() ? 3 : 100;
    ConnectionHandler server =
        new ConnectionHandler() {
          @Override
          public void connected(Connection connection) {
            Pair.answer(connection, 42);
          }

          @Override
          public void message(Connection connection, Message message) {}
        };
    try (Pair pair = new Pair(Pair.cm(), server)) {
      for (int i = 0; i < rounds; i++) {
        AtomicLong first = new AtomicLong();
        Connection connection = pair.connect((c, m) -> first.set(m.longAt(0)));
        Pair.await("what the other side says first", () -> first.get() == 42);
        connection.close();
        assertThat(Pair.closed(connection).kind()).isEqualTo(CloseReason.Kind.LOCAL);
        Pair.await("its place", () -> pair.right.metrics().connections() == 0);
      }
    }
  }

  @Test
  void whatWasSentBeforeAnOrderlyCloseArrivesAndTheOtherSideIsTold() throws Exception {
    for (int round = 0; round < (Provider.isDevice() ? 2 : 30); round++) {
      AtomicInteger seen = new AtomicInteger();
      List<String> reasons = new CopyOnWriteArrayList<>();
      ConnectionHandler handler =
          new ConnectionHandler() {
            @Override
            public void message(Connection connection, Message message) {
              seen.incrementAndGet();
            }

            @Override
            public void closed(Connection connection, CloseReason reason) {
              reasons.add(seen.get() + " " + reason.kind());
            }
          };
      // With so wide a window the other side sends no credit, which would find its peer closed.
      NetOptions.Builder options = Pair.cm().connections(1).window(256).lingerMs(60_000);
      try (Pair pair = new Pair(options, handler)) {
        Connection connection = pair.connect((c, m) -> {});
        for (int i = 0; i < 100; i++) {
          Pair.send(connection, i, i);
        }
        connection.close();
        assertThat(Pair.closed(connection).toString()).isEqualTo("LOCAL: closed by the program");
        Pair.await("the other end", () -> !reasons.isEmpty());
        assertThat(reasons).containsExactly("100 PEER");
      }
    }
  }

  @Test
  void bothSidesNeedTheSameKey() throws Exception {
    try (Pair pair = new Pair(keyed("a", 1), keyed("b", 1), (c, m) -> Pair.answer(c, 5))) {
      for (int i = 0; i < 3; i++) {
        Connection connection = pair.connect((c, m) -> c.attach(m.longAt(0)));
        Pair.send(connection, 1, 2);
        Pair.await("an answer", () -> Long.valueOf(5).equals(connection.attachment()));
      }
      assertThat(pair.right.metrics().refused()).isZero();
    }
    try (Pair pair = new Pair(keyed("c", 1), keyed("d", 2), (c, m) -> {})) {
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .isInstanceOf(ExchangeException.class)
          .hasMessage("the peer refuses: the proof is wrong: both sides need the same key file");
      Pair.await("the count", () -> pair.right.metrics().refused() == 1);
    }
    try (Pair pair = new Pair(Pair.cm(), keyed("e", 2), (c, m) -> {})) {
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .hasMessage(
              "the peer refuses: this side has a key, the other has not: give both the same key"
                  + " file");
    }
    try (Pair pair = new Pair(keyed("f", 2), Pair.cm(), (c, m) -> {})) {
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .hasMessage(
              "the peer refuses: one side has a key, this one has not: give both the same key"
                  + " file");
    }
  }

  @Test
  void withoutAKeyOtherHostsAreRefusedUnlessThatIsWanted() throws Exception {
    try (VerbsNode node = VerbsNode.open(Pair.options().rdmaCm().build())) {
      InetSocketAddress other = new InetSocketAddress("192.0.2.1", 7);
      assertThatThrownBy(() -> node.listen(other, (c, m) -> {}))
          .hasMessageContaining("is not of the loopback interface");
      assertThatThrownBy(() -> node.connect(other, (c, m) -> {}))
          .hasMessageContaining("is not of the loopback interface");
    }
  }

  @Test
  void whereNobodyListensTheAnswerIsNo() throws Exception {
    try (VerbsNode node = VerbsNode.open(Pair.cm().build())) {
      InetSocketAddress nobody = new InetSocketAddress(Provider.address(), 9);
      assertThatThrownBy(() -> node.connect(nobody, (c, m) -> {}))
          .isInstanceOf(ExchangeException.class)
          .hasMessageContaining("no RDMA CM listener at this address");
      assertThat(node.metrics().connections()).isZero();
    }
  }

  @Test
  void aNodeThatIsFullSaysSo() throws Exception {
    try (Pair pair = new Pair(Pair.cm(), Pair.cm().connections(1), (c, m) -> {})) {
      Connection connection = pair.connect((c, m) -> {});
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .hasMessage(
              "the peer refuses: the node has all its 1 connections: close some, or open it with"
                  + " more");
      connection.close();
      CloseReason ignored = Pair.closed(connection);
      Pair.await("its place", () -> pair.right.metrics().connections() == 0);
      assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
    }
  }

  private static void resolve(EventChannel channel, ConnectionId id, InetSocketAddress address) {
    id.resolveAddress(null, address, LIMIT_MS);
    assertThat(channel.next(LIMIT_MS).orElseThrow().type())
        .isEqualTo(ConnectionEvent.Type.ADDRESS_RESOLVED);
    id.resolveRoute(LIMIT_MS);
    assertThat(channel.next(LIMIT_MS).orElseThrow().type())
        .isEqualTo(ConnectionEvent.Type.ROUTE_RESOLVED);
  }

  /** A peer that does not speak as nodes do: asks with some bytes, and gives what it is told. */
  private static ConnectionEvent told(InetSocketAddress address, byte... data) {
    try (EventChannel channel = EventChannel.open();
        ConnectionId id = channel.create(PortSpace.TCP)) {
      resolve(channel, id, address);
      id.connect(ConnectionParameters.with(data));
      return channel.next(LIMIT_MS).orElseThrow();
    }
  }

  private static String ask(InetSocketAddress address, byte... data) {
    return said(told(address, data));
  }

  private static String said(ConnectionEvent event) {
    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
    byte[] said = event.privateData();
    return said[1] == CmFrame.REFUSAL ? CmFrame.words(said) : "type " + said[1];
  }

  /** How a peer makes its proof. */
  private interface Forgery {
    byte[] proof(
        byte[] hello, byte[] challenge, byte[] offer, InetAddress own, InetAddress other, int qp);
  }

  private static KeyProof keyProof(String protocol, int version, byte[] hello, byte[] challenge) {
    byte[] key = new byte[32];
    Arrays.fill(key, (byte) 1);
    byte[] caller = Arrays.copyOfRange(hello, 4, 36);
    return new KeyProof(protocol, version, key, caller, Arrays.copyOfRange(challenge, 4, 36));
  }

  private static byte[] context(
      byte[] hello, byte[] challenge, byte[] offer, InetAddress own, InetAddress other, int pair) {
    byte[] ends =
        KeyProof.addresses(new InetSocketAddress(own, 0), new InetSocketAddress(other, 0));
    ByteBuffer all =
        ByteBuffer.allocate(ends.length + hello.length + challenge.length + offer.length + 4);
    return all.put(ends).put(hello).put(challenge).put(offer).putInt(pair).array();
  }

  private static ConnectionEvent prove(Pair pair, Forgery forgery) {
    byte[] hello = CmFrame.nonceFrame(CmFrame.HELLO, 0, KeyProof.nonce());
    byte[] challenge = Arrays.copyOf(told(pair.address, hello).privateData(), hello.length);
    assertThat(challenge[1]).isEqualTo(CmFrame.CHALLENGE);
    Offer own = new Offer(1, null, 4096, 4096, 16, 1, 1);
    byte[] offer = CmFrame.offer(CmFrame.OFFER, CmFrame.number(challenge), own, true);
    try (EventChannel channel = EventChannel.open();
        ConnectionId id = channel.create(PortSpace.TCP)) {
      resolve(channel, id, pair.address);
      try (io.talaria.verbs.ProtectionDomain domain =
              id.context().orElseThrow().protectionDomain();
          io.talaria.verbs.CompletionQueue queue = id.context().orElseThrow().completionQueue(8);
          io.talaria.verbs.QueuePair qp =
              id.open(io.talaria.verbs.QueuePair.rc(domain).send(queue, 2).receive(queue, 2))) {
        InetAddress here = id.localAddress().orElseThrow().getAddress();
        InetAddress there = id.peerAddress().orElseThrow().getAddress();
        byte[] proof = forgery.proof(hello, challenge, offer, here, there, qp.number());
        id.connect(ConnectionParameters.with(CmFrame.with(offer, proof)));
        return channel.next(LIMIT_MS).orElseThrow();
      }
    }
  }

  @Test
  void aProofThatIsOfAnythingElseIsRefused() throws Exception {
    assumeFalse(Provider.isDevice(), "devices are not needed for this");
    String name = "Talaria verbs-net by RDMA CM";
    InetAddress elsewhere = InetAddress.ofLiteral("192.0.2.1");
    byte[][] recorded = new byte[1][];
    Forgery right =
        (h, c, o, own, other, qp) ->
            recorded[0] = keyProof(name, 2, h, c).proof(true, context(h, c, o, own, other, qp));
    List<Forgery> forgeries =
        List.of(
            (h, c, o, own, other, qp) -> recorded[0],
            // For another nonce, or frame.
            (h, c, o, own, other, qp) ->
                keyProof(name, 2, new byte[36], c).proof(true, context(h, c, o, own, other, qp)),
            (h, c, o, own, other, qp) ->
                keyProof(name, 2, h, new byte[36]).proof(true, context(h, c, o, own, other, qp)),
            (h, c, o, own, other, qp) ->
                keyProof(name, 2, h, c).proof(true, context(h, c, new byte[24], own, other, qp)),
            // Of the other side.
            (h, c, o, own, other, qp) ->
                keyProof(name, 2, h, c).proof(false, context(h, c, o, own, other, qp)),
            // At another address, or of another queue pair.
            (h, c, o, own, other, qp) ->
                keyProof(name, 2, h, c).proof(true, context(h, c, o, elsewhere, other, qp)),
            (h, c, o, own, other, qp) ->
                keyProof(name, 2, h, c).proof(true, context(h, c, o, own, elsewhere, qp)),
            (h, c, o, own, other, qp) ->
                keyProof(name, 2, h, c).proof(true, context(h, c, o, own, other, qp + 1)),
            // Of another protocol or version.
            (h, c, o, own, other, qp) ->
                keyProof("Talaria verbs-net by TCP", 2, h, c)
                    .proof(true, context(h, c, o, own, other, qp)),
            (h, c, o, own, other, qp) ->
                keyProof(name, 1, h, c).proof(true, context(h, c, o, own, other, qp)),
            // Cut off.
            (h, c, o, own, other, qp) -> Arrays.copyOf(right.proof(h, c, o, own, other, qp), 31));
    try (Pair pair = new Pair(keyed("a", 1), (c, m) -> {})) {
      assertThat(prove(pair, right).type()).isEqualTo(ConnectionEvent.Type.ESTABLISHED);
      for (int i = 0; i < forgeries.size(); i++) {
        assertThat(said(prove(pair, forgeries.get(i))))
            .as("forgery %d", i)
            .isEqualTo("the proof is wrong: both sides need the same key file");
      }
    }
  }

  @Test
  void peersThatDoNotSpeakItAreRefusedByName() throws Exception {
    try (Pair pair = new Pair(keyed("a", 1), (c, m) -> {})) {
      assertThat(ask(pair.address, new byte[8]))
          .isEqualTo("the peer speaks version 0 of the protocol by RDMA CM, this side version 2");
      assertThat(ask(pair.address, (byte) 2, (byte) 9, (byte) 0, (byte) 0))
          .isEqualTo("a frame of type 9 where an offer was to come");
      byte[] hello = CmFrame.nonceFrame(CmFrame.HELLO, 0, new byte[32]);
      assertThat(ask(pair.address, hello)).isEqualTo("type " + CmFrame.CHALLENGE);
      Offer offer = new Offer(1, null, 4096, 4096, 16, 1, 1);
      byte[] unproved = CmFrame.offer(CmFrame.OFFER, 0, offer, true);
      assertThat(ask(pair.address, unproved))
          .isEqualTo("the proof is wrong: both sides need the same key file");
      // The challenge is used up.
      assertThat(ask(pair.address, unproved))
          .isEqualTo("the offer answers no challenge, or an old one");
      Offer nonsense = new Offer(1, null, 4096, 4096, 0, 1, 1);
      assertThat(ask(pair.address, CmFrame.offer(CmFrame.OFFER, 0, nonsense, true)))
          .isEqualTo("the peer offers nonsense: a window of 0 messages");
      Pair.await("the count", () -> pair.right.metrics().refused() == 5);
      assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
    }
  }

  @Test
  void aPeerThatConnectsAndSaysNothingIsClosedInTime() throws Exception {
    assumeFalse(Provider.isDevice(), "the provider needs no queue pair's state for this");
    try (Pair pair = new Pair(Pair.cm().handshakeMs(300), (c, m) -> {});
        EventChannel channel = EventChannel.open();
        ConnectionId id = channel.create(PortSpace.TCP)) {
      id.resolveAddress(null, pair.address, LIMIT_MS);
      Pair.await("the address", () -> channel.take().isPresent());
      try (io.talaria.verbs.ProtectionDomain domain =
              id.context().orElseThrow().protectionDomain();
          io.talaria.verbs.CompletionQueue queue = id.context().orElseThrow().completionQueue(8);
          io.talaria.verbs.QueuePair mute =
              id.open(io.talaria.verbs.QueuePair.rc(domain).send(queue, 2).receive(queue, 2))) {
        Offer offer = new Offer(1, null, 4096, 4096, 16, 1, 1);
        id.connect(ConnectionParameters.with(CmFrame.offer(CmFrame.OFFER, 0, offer, false)));
        Pair.await("the count", () -> pair.right.metrics().refused() == 1);
        Pair.await("its end", () -> pair.right.metrics().connections() == 0);
        assertThat(mute.isOpen()).isTrue();
      }
    }
  }

  @Test
  void callsThatFailAreToldAndLeaveNothingBehind() throws Exception {
    assumeFalse(Provider.isDevice(), "faults are asked of the provider");
    String[] functions = {
      "rdma_create_id",
      "rdma_resolve_addr",
      "rdma_resolve_route",
      "rdma_create_qp",
      "rdma_connect",
      "rdma_accept"
    };
    // The provider does not tell the one that connects of an rdma_accept that fails.
    try (Pair pair = new Pair(Pair.cm().handshakeMs(5_000), (c, m) -> {})) {
      for (String function : functions) {
        Provider.fail(function, 5, 1);
        assertThatThrownBy(() -> pair.connect((c, m) -> {})).as(function).isNotNull();
        Provider.fail("", 0, 0);
        Pair.await("both ends", () -> pair.right.metrics().connections() == 0);
        Connection connection = pair.connect((c, m) -> {});
        assertThat(connection.isOpen()).as(function).isTrue();
        connection.close();
        CloseReason ignored = Pair.closed(connection);
        Pair.await("its place", () -> pair.right.metrics().connections() == 0);
      }
    }
    for (String function : new String[] {"rdma_create_event_channel", "rdma_get_devices"}) {
      Provider.fail(function, 5, 1);
      assertThatThrownBy(() -> VerbsNode.open(Pair.cm().build())).as(function).isNotNull();
      Provider.fail("", 0, 0);
      VerbsNode.open(Pair.cm().build()).close();
    }
    assertThatThrownBy(() -> VerbsNode.open(Pair.cm().device("nowhere").build()))
        .isInstanceOf(NoSuchElementException.class)
        .hasMessageContaining("RDMA CM knows no device nowhere");
  }

  @Test
  void connectionsMayBeClosedAtAnyTimeAndByTheirNodes() throws Exception {
    int rounds = Provider.isDevice() ? 2 : 20;
    for (int round = 0; round < rounds; round++) {
      AtomicInteger connected = new AtomicInteger();
      AtomicInteger closed = new AtomicInteger();
      ConnectionHandler handler =
          new ConnectionHandler() {
            @Override
            public void connected(Connection connection) {
              connected.incrementAndGet();
            }

            @Override
            public void message(Connection connection, Message message) {
              if (message.longAt(0) == 50) {
                connection.close();
              }
            }

            @Override
            public void closed(Connection connection, CloseReason reason) {
              closed.incrementAndGet();
            }
          };
      List<Connection> open = new ArrayList<>();
      try (Pair pair = new Pair(Pair.cm().lingerMs(100), handler)) {
        for (int i = 0; i < 4; i++) {
          open.add(pair.connect(handler));
        }
        for (Connection connection : open) {
          for (int i = 0; i < 100; i++) {
            Slice slice = connection.awaitSlice(Pair.LIMIT_NS);
            slice.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, i);
            if (connection.send(slice, 16) == Connection.BACK_PRESSURED) {
              slice.release();
            }
          }
        }
        if (round % 2 == 0) {
          pair.right.close();
        }
      }
      // A node that closes at once may never have heard of a connection.
      assertThat(connected.get()).isBetween(4, 8);
      assertThat(closed.get()).isEqualTo(connected.get());
    }
  }

  @Test
  void manyConnectsAndClosesLeaveNothingBehind() throws Exception {
    int times = Provider.isDevice() ? 10 : 500;
    AtomicLong seen = new AtomicLong();
    try (Pair pair = new Pair(Pair.cm(), (c, m) -> seen.incrementAndGet())) {
      for (int i = 0; i < times; i++) {
        Connection connection = pair.connect((c, m) -> {});
        Pair.send(connection, i, i);
        connection.close();
        CloseReason ignored = Pair.closed(connection);
        Pair.await("the other end", () -> pair.right.metrics().connections() == 0);
      }
      assertThat(seen.get()).isEqualTo(times);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.negotiation.Wire.Hello;
import io.talaria.nio.process.Host;
import io.talaria.nio.transport.TransportException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A side that shares memory with other network namespaces, seen by a peer that says what it likes.
 */
@Timeout(60)
class AcrossNamespacesTest {
  private static final int PORT = 7003;
  private static final ByteBuffer PAYLOAD = ByteBuffer.allocate(4);
  private static final String ELSEWHERE = "net:[1]";
  private static final ConnectionKey KEY =
      new ConnectionKey(
          new InetSocketAddress("192.0.2.2", 40_000), new InetSocketAddress("127.0.0.1", PORT));

  private static final ConnectionKey REMOTE =
      new ConnectionKey(
          new InetSocketAddress("192.0.2.2", 1), new InetSocketAddress("192.0.2.3", PORT));

  @TempDir Path temporary;

  private final FakeTransport transport = new FakeTransport();
  private Node node;
  private RawSession session;

  @AfterEach
  void close() throws Exception {
    if (session != null) {
      session.close();
    }
    node.settle();
    node.assertNoFailure();
  }

  private static ByteBuffer hello(String namespace, boolean shares) {
    return Wire.hello(
        new Hello(Wire.VERSION, Host.pid(), Host.bootId(), namespace, shares, "fake", PAYLOAD));
  }

  private void dial(Node server) throws Exception {
    node = server;
    assertThat(server.announce(PORT)).isEqualTo(Reason.ANNOUNCED);
    session = RawSession.dial(server.announced(PORT));
  }

  private void dialSharing() throws Exception {
    dial(Node.sharing(temporary.resolve("run"), transport));
    session.write(hello(ELSEWHERE, true));
    assertThat(Wire.welcome(session.expect(Wire.WELCOME)).across()).isTrue();
  }

  private void expectRejection() throws Exception {
    assertThat(Wire.reason(session.expect(Wire.REJECT))).isEqualTo(Reason.OTHER_NAMESPACE);
    session.awaitEnd();
  }

  @Test
  void thePeerAloneCannotShare() throws Exception {
    dial(new Node(temporary.resolve("run"), transport));
    session.write(hello(ELSEWHERE, true));
    expectRejection();
  }

  @Test
  void thisSideAloneDoesNotShare() throws Exception {
    dial(Node.sharing(temporary.resolve("run"), transport));
    session.write(hello(ELSEWHERE, false));
    expectRejection();
  }

  @Test
  void aNamespaceThatIsNotKnownIsNotShared() throws Exception {
    dial(Node.sharing(temporary.resolve("run"), transport));
    session.write(hello("", true));
    expectRejection();
  }

  @Test
  void inOneNamespaceNothingIsProved() throws Exception {
    dial(Node.sharing(temporary.resolve("run"), transport));
    session.write(hello(Host.networkNamespace(), true));
    assertThat(Wire.welcome(session.expect(Wire.WELCOME)).across()).isFalse();
    session.write(Wire.probe(1, KEY, Nonce.random()));
    session.awaitEnd();
  }

  @Test
  void anOfferWithoutAProofEndsTheSession() throws Exception {
    dialSharing();
    session.write(Wire.offer(1, KEY, null, PAYLOAD));
    session.awaitEnd();
  }

  @Test
  void anOfferWithAProofEndsASessionOfOneNamespace() throws Exception {
    dial(Node.sharing(temporary.resolve("run"), transport));
    session.write(hello(Host.networkNamespace(), true));
    session.expect(Wire.WELCOME);
    session.write(Wire.offer(1, FakeChannel.key(1, PORT), invented(), PAYLOAD));
    session.awaitEnd();
  }

  private static SegmentProof invented() {
    return new SegmentProof(1, Nonce.random(), new SegmentEnd(1, 2), 200);
  }

  @Test
  void anInventedProofIsRefused() throws Exception {
    dialSharing();
    FakeChannel accepted = new FakeChannel(KEY);
    node.negotiator.accepted(accepted);
    session.write(Wire.offer(7, KEY, invented(), PAYLOAD));
    ByteBuffer refusal = session.expect(Wire.REFUSE);
    assertThat(Wire.id(refusal)).isEqualTo(7);
    assertThat(Wire.reason(refusal)).isEqualTo(Reason.NOT_DIRECT);
    assertThat(accepted.attachments).hasValue(0);
  }

  private static String refusal(SegmentProof proof, int receivedTtl) {
    FakeChannel accepted = new FakeChannel(KEY);
    accepted.receivedTtl = receivedTtl;
    try {
      new SegmentEchoes(null).check(KEY, proof, accepted);
      throw new AssertionError("nothing is wrong with " + proof);
    } catch (TransportException e) {
      assertThat(e.reason()).isEqualTo(Reason.NOT_DIRECT);
      return e.detail();
    }
  }

  /** As it comes from a proxy that has made a connection of its own. */
  @Test
  void aConnectionOfAnotherTimeToLiveIsNotTaken() throws Exception {
    node = new Node(temporary.resolve("run"), transport);
    assertThat(refusal(invented(), 64)).contains("time to live 64, the client sends 200");
    assertThat(refusal(invented(), 199)).contains("time to live 199");
    assertThat(refusal(invented(), 0)).contains("time to live 0");
    SegmentProof none = new SegmentProof(1, Nonce.random(), new SegmentEnd(1, 2), 0);
    assertThat(refusal(none, 0)).contains("time to live 0");
    assertThat(refusal(invented(), 200)).contains("too old"); // it has no probe either
  }

  /** Its packets cannot be told from others'. */
  @Test
  void aConnectionWithoutATimeToLiveOfItsOwnIsNotOffered() throws Exception {
    try (RawSession.Listener listener = listener()) {
      FakeChannel channel = new FakeChannel(REMOTE);
      channel.ttl = 0;
      node.negotiator.connected(channel);
      session = welcomed(listener, true);
      channel.awaitPlain(Reason.NOT_DIRECT);
      assertThat(transport.offers).hasValue(0);
    }
  }

  @Test
  void loopbackAddressesAreNotProbed() throws Exception {
    dialSharing();
    session.write(Wire.probe(3, KEY, Nonce.random()));
    ByteBuffer answer = session.expect(Wire.PROBE_AT);
    assertThat(Wire.id(answer)).isEqualTo(3);
    assertThat(Wire.unsignedShort(answer)).isZero();
  }

  @Test
  void theListenersOfOthersAreNotProbed() throws Exception {
    dialSharing();
    ConnectionKey elsewhere =
        new ConnectionKey(KEY.client(), new InetSocketAddress("192.0.2.3", PORT));
    session.write(Wire.probe(3, elsewhere, Nonce.random()));
    ByteBuffer answer = session.expect(Wire.PROBE_AT);
    Wire.id(answer);
    assertThat(Wire.unsignedShort(answer)).isZero();
  }

  // ---- as the side that dials

  private FakeChannel connect(ConnectionKey key) {
    FakeChannel channel = new FakeChannel(key);
    node.negotiator.connected(channel);
    return channel;
  }

  private RawSession welcomed(RawSession.Listener listener, boolean across) throws Exception {
    RawSession accepted = listener.accept();
    Hello hello = Wire.hello(accepted.expect(Wire.HELLO));
    assertThat(hello.shares()).isTrue();
    accepted.write(Wire.welcome(new Wire.Welcome(1, across)));
    return accepted;
  }

  private RawSession.Listener listener() throws Exception {
    node = Node.sharing(temporary.resolve("run"), transport);
    node.announce(PORT + 1); // makes the directory
    return new RawSession.Listener(node.directory, PORT);
  }

  @Test
  void whatDoesNotLeaveItsNamespaceIsNotOfferedToAnother() throws Exception {
    try (RawSession.Listener listener = listener()) {
      FakeChannel channel = connect(FakeChannel.key(1, PORT));
      session = welcomed(listener, true);
      channel.awaitPlain(Reason.OTHER_NAMESPACE);
      assertThat(transport.offers).hasValue(0);
    }
  }

  @Test
  void whatLeavesItsNamespaceIsNotOfferedToThisOne() throws Exception {
    try (RawSession.Listener listener = listener()) {
      FakeChannel channel = connect(REMOTE);
      session = welcomed(listener, false);
      channel.awaitPlain(Reason.NOT_LOCAL);
      assertThat(transport.offers).hasValue(0);
    }
  }

  @Test
  void aConnectionThatCannotBeProbedIsNotOffered() throws Exception {
    try (RawSession.Listener listener = listener()) {
      FakeChannel channel = connect(REMOTE);
      session = welcomed(listener, true);
      channel.awaitPlain(Reason.NOT_DIRECT); // no interface has the address
      assertThat(transport.offers).hasValue(0);
    }
  }

  /** An address of this host that others may reach, if it has one. */
  private static InetAddress ownAddress() throws Exception {
    for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      for (InetAddress address : Collections.list(each.getInetAddresses())) {
        if (each.isUp() && address instanceof Inet4Address && !address.isLoopbackAddress()) {
          return address;
        }
      }
    }
    return Assumptions.abort("this host has loopback addresses only");
  }

  private FakeChannel connectFrom(InetAddress own, int port) {
    return connect(
        new ConnectionKey(
            new InetSocketAddress(own, port), new InetSocketAddress("192.0.2.3", PORT)));
  }

  /** As behind a firewall; and what the peer says of a probe that is over means nothing. */
  @Test
  void aConnectionWhoseDatagramsAreLostIsNotOffered() throws Exception {
    InetAddress own = ownAddress();
    try (RawSession.Listener listener = listener()) {
      FakeChannel first = connectFrom(own, 40_000);
      session = welcomed(listener, true);
      int id = Wire.id(session.expect(Wire.PROBE));
      session.write(Wire.probeAt(id, 9));
      session.write(Wire.probeAt(id, 10));
      first.awaitPlain(Reason.NOT_DIRECT);
      session.write(Wire.probeAt(id, 9));
      FakeChannel second = connectFrom(own, 40_001);
      int next = Wire.id(session.expect(Wire.PROBE));
      assertThat(next).isNotEqualTo(id);
      session.write(Wire.probeAt(id, 9));
      session.write(Wire.probeAt(next, 0));
      second.awaitPlain(Reason.NOT_DIRECT);
      assertThat(transport.offers).hasValue(0);
    }
  }

  @Test
  void anAnswerToAProbeThatWasNotMadeEndsTheSession() throws Exception {
    InetAddress own = ownAddress();
    try (RawSession.Listener listener = listener()) {
      FakeChannel channel = connectFrom(own, 40_000);
      session = welcomed(listener, true);
      int id = Wire.id(session.expect(Wire.PROBE));
      session.write(Wire.probeAt(id + 1, 9));
      session.awaitEnd();
      channel.awaitPlain(Reason.PROTOCOL);
    }
  }

  /** It would be in two places at once. */
  @Test
  void theSecondProbeOfANumberEndsTheSession() throws Exception {
    InetAddress own = ownAddress();
    node = Node.sharing(temporary.resolve("run"), transport);
    CompletableFuture<Reason> announced = new CompletableFuture<>();
    node.negotiator.announce(new InetSocketAddress("0.0.0.0", PORT), announced::complete);
    assertThat(announced.get(20, TimeUnit.SECONDS)).isEqualTo(Reason.ANNOUNCED);
    session = RawSession.dial(node.announced(PORT));
    session.write(hello(ELSEWHERE, true));
    session.expect(Wire.WELCOME);
    ConnectionKey between =
        new ConnectionKey(new InetSocketAddress("192.0.2.2", 7), new InetSocketAddress(own, PORT));
    session.write(Wire.probe(1, between, Nonce.random()));
    ByteBuffer answer = session.expect(Wire.PROBE_AT);
    assertThat(Wire.id(answer)).isEqualTo(1);
    Assumptions.assumeTrue(Wire.unsignedShort(answer) > 0, "this host has no route to others");
    session.write(Wire.probe(1, between, Nonce.random()));
    session.awaitEnd();
  }

  @Test
  void aPeerThatSharesUnaskedViolatesTheProtocol() throws Exception {
    node = new Node(temporary.resolve("run"), transport);
    node.announce(PORT + 1);
    try (RawSession.Listener listener = new RawSession.Listener(node.directory, PORT)) {
      FakeChannel channel = connect(FakeChannel.key(1, PORT));
      session = listener.accept();
      session.expect(Wire.HELLO);
      session.write(Wire.welcome(new Wire.Welcome(1, true)));
      session.awaitEnd();
      channel.awaitPlain(Reason.PROTOCOL);
    }
  }

  @Test
  void aClientWithoutAPeerIsRemoteIfItLeavesItsNamespace() throws Exception {
    node = Node.sharing(temporary.resolve("run"), transport);
    FakeChannel channel = connect(REMOTE);
    channel.awaitPlain(Reason.NOT_LOCAL);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.negotiation.Wire.Hello;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The side that accepts, seen by a dialler that says what it likes. */
@Timeout(60)
class NegotiationTest {
  private static final int PORT = 7003;
  private static final ByteBuffer PAYLOAD = ByteBuffer.allocate(4);

  @TempDir Path temporary;

  private final FakeTransport transport = new FakeTransport();
  private Node server;
  private RawSession session;
  private long dialledNs;

  @BeforeEach
  void dial() throws Exception {
    server = new Node(temporary.resolve("run"), transport);
    assertThat(server.announce(PORT)).isEqualTo(Reason.ANNOUNCED);
    dialledNs = System.nanoTime();
    session = RawSession.dial(server.announced(PORT));
  }

  @AfterEach
  void check() throws Exception {
    session.close();
    server.settle();
    server.assertNoFailure();
  }

  private void greet() throws Exception {
    greet(session);
  }

  private static void greet(RawSession with) throws Exception {
    with.write(Wire.hello(RawSession.hello("fake", PAYLOAD)));
    with.expect(Wire.WELCOME);
  }

  private FakeChannel accept(int clientPort) {
    FakeChannel channel = new FakeChannel(FakeChannel.key(clientPort, PORT));
    server.negotiator.accepted(channel);
    return channel;
  }

  private void offer(int id, int clientPort) throws Exception {
    session.write(Wire.offer(id, FakeChannel.key(clientPort, PORT), null, PAYLOAD));
  }

  private void expectAnswer(int id) throws Exception {
    ByteBuffer body = session.expect(Wire.ANSWER);
    assertThat(Wire.id(body)).isEqualTo(id);
  }

  private void expectRefusal(int id, Reason reason) throws Exception {
    ByteBuffer body = session.expect(Wire.REFUSE);
    assertThat(Wire.id(body)).isEqualTo(id);
    assertThat(Wire.reason(body)).isEqualTo(reason);
  }

  private void expectRejection(Reason reason) throws Exception {
    assertThat(Wire.reason(session.expect(Wire.REJECT))).isEqualTo(reason);
    session.awaitEnd();
  }

  private void awaitGone(int peers) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (transport.gone.size() < peers) {
      assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  // ---- handshake
  // ------------------------------------------------------------------------------------

  @Test
  void aDiallerOfAnotherVersionIsRejected() throws Exception {
    session.write(Wire.hello(new Hello(Wire.VERSION + 1, 1, "", "", false, "", PAYLOAD)));
    expectRejection(Reason.VERSION_MISMATCH);
  }

  @Test
  void aDiallerOfAnotherBootIsRejected() throws Exception {
    Hello own = RawSession.hello("fake", PAYLOAD);
    session.write(
        Wire.hello(
            new Hello(
                own.version(), 1, "another", own.networkNamespace(), false, "fake", PAYLOAD)));
    expectRejection(Reason.OTHER_BOOT);
  }

  @Test
  void aDiallerOfAnotherNetworkNamespaceIsRejected() throws Exception {
    Hello own = RawSession.hello("fake", PAYLOAD);
    session.write(
        Wire.hello(new Hello(own.version(), 1, own.bootId(), "net:[1]", false, "fake", PAYLOAD)));
    expectRejection(Reason.OTHER_NAMESPACE);
  }

  @Test
  void aDiallerWithAnotherTransportIsRejected() throws Exception {
    session.write(Wire.hello(RawSession.hello("pigeon", PAYLOAD)));
    expectRejection(Reason.REFUSED);
    assertThat(transport.peers).isEmpty();
  }

  @Test
  void aDiallerWhomTheTransportRefusesIsRejectedWithItsReason() throws Exception {
    transport.refusal = Reason.NO_SHM_DIR;
    session.write(Wire.hello(RawSession.hello("fake", PAYLOAD)));
    expectRejection(Reason.NO_SHM_DIR);
  }

  @Test
  void aHelloIsSaidOnce() throws Exception {
    greet();
    session.write(Wire.hello(RawSession.hello("fake", PAYLOAD)));
    session.awaitEnd();
    awaitGone(1);
  }

  @Test
  void aSilentDiallerIsHungUpOn() throws Exception {
    session.awaitEnd();
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - dialledNs))
        .isBetween(3000L, 15000L);
    assertThat(transport.gone).isEmpty();
  }

  @Test
  void framesThatOnlyTheOtherSideMaySendEndTheSession() throws Exception {
    int ended = 0;
    for (ByteBuffer frame :
        new ByteBuffer[] {
          RawSession.welcome(1),
          Wire.reject(Reason.BUSY),
          Wire.answer(1, PAYLOAD),
          Wire.refuse(1, Reason.BUSY)
        }) {
      try (RawSession other = RawSession.dial(server.announced(PORT))) {
        greet(other);
        other.write(frame);
        other.awaitEnd();
        awaitGone(++ended);
      }
    }
  }

  @Test
  void nothingIsHeardBeforeTheHello() throws Exception {
    offer(1, 1);
    session.awaitEnd();
    assertThat(transport.peers).isEmpty();
  }

  @Test
  void framesMayComeInPieces() throws Exception {
    greet();
    FakeChannel channel = accept(1);
    ByteBuffer frame = Wire.offer(1, channel.key(), null, PAYLOAD);
    while (frame.hasRemaining()) {
      session.write(frame.slice(frame.position(), 1));
      frame.get();
      server.settle();
    }
    expectAnswer(1);
    channel.awaitAttached();
  }

  // ---- offers
  // --------------------------------------------------------------------------------------

  @Test
  void anOfferForAnAcceptedConnectionIsAnsweredAtOnce() throws Exception {
    greet();
    FakeChannel channel = accept(1);
    offer(7, 1);
    expectAnswer(7);
    channel.awaitAttached();
  }

  @Test
  void anOfferWaitsUntilTheProgramAccepts() throws Exception {
    greet();
    offer(7, 1);
    session.write(Wire.offer(8, FakeChannel.key(2, PORT), null, PAYLOAD));
    FakeChannel second = accept(2);
    expectAnswer(8);
    FakeChannel first = accept(1);
    expectAnswer(7);
    first.awaitAttached();
    second.awaitAttached();
  }

  @Test
  void anOfferForAnotherAddressOrPortIsNotMatched() throws Exception {
    greet();
    session.write(Wire.offer(1, FakeChannel.key(1, PORT + 1), null, PAYLOAD));
    expectRefusal(1, Reason.NOT_MATCHED);
    FakeChannel elsewhere =
        new FakeChannel(
            new ConnectionKey(
                new java.net.InetSocketAddress("127.0.0.1", 1),
                new java.net.InetSocketAddress("127.0.0.2", PORT)));
    server.negotiator.accepted(elsewhere);
    session.write(Wire.offer(2, elsewhere.key(), null, PAYLOAD));
    expectRefusal(2, Reason.NOT_MATCHED);
    assertThat(elsewhere.attachments).hasValue(0);
  }

  @Test
  void aSecondOfferForAConnectionReplacesTheFirst() throws Exception {
    greet();
    offer(1, 5);
    offer(2, 5);
    expectRefusal(1, Reason.REFUSED);
    FakeChannel channel = accept(5);
    expectAnswer(2);
    channel.awaitAttached();
    assertThat(channel.attachments).hasValue(1);
  }

  @Test
  void anOfferOfAnotherSessionReplacesTheFirstToo() throws Exception {
    greet();
    offer(1, 5);
    try (RawSession other = RawSession.dial(server.announced(PORT))) {
      greet(other);
      other.write(Wire.offer(1, FakeChannel.key(5, PORT), null, PAYLOAD));
      expectRefusal(1, Reason.REFUSED);
      FakeChannel channel = accept(5);
      other.expect(Wire.ANSWER);
      channel.awaitAttached();
    }
  }

  @Test
  void anOfferForAConnectionThatHasAStreamWaitsForNobody() throws Exception {
    greet();
    FakeChannel channel = accept(1);
    offer(1, 1);
    expectAnswer(1);
    offer(2, 1);
    session.write(Wire.withdraw(2));
    expectRefusal(2, Reason.CLOSED_EARLY);
    assertThat(channel.attachments).hasValue(1);
  }

  @Test
  void anOfferWithdrawnBeforeTheAcceptIsRefusedAndForgotten() throws Exception {
    greet();
    offer(1, 1);
    session.write(Wire.withdraw(1));
    expectRefusal(1, Reason.CLOSED_EARLY);
    FakeChannel channel = accept(1);
    server.settle();
    assertThat(channel.attachments).hasValue(0);
    assertThat(transport.answers).hasValue(0);
  }

  @Test
  void anOfferWithdrawnTooLateHasItsOneAnswer() throws Exception {
    greet();
    accept(1);
    offer(1, 1);
    session.write(Wire.withdraw(1));
    session.write(Wire.withdraw(99));
    expectAnswer(1);
    accept(2);
    offer(2, 2);
    expectAnswer(2); // and nothing came between
  }

  @Test
  void anIdInUseEndsTheSessionAndNothingOfItStays() throws Exception {
    greet();
    offer(1, 1);
    offer(1, 2);
    session.awaitEnd();
    awaitGone(1);
    FakeChannel first = accept(1);
    FakeChannel second = accept(2);
    server.settle();
    assertThat(first.attachments).hasValue(0);
    assertThat(second.attachments).hasValue(0);
    assertThat(transport.answers).hasValue(0);
  }

  @Test
  void anIdMayBeUsedAgainAfterItsAnswer() throws Exception {
    greet();
    accept(1);
    offer(1, 1);
    expectAnswer(1);
    accept(2);
    offer(1, 2);
    expectAnswer(1);
  }

  @Test
  void offersOfASessionThatEndedAreForgotten() throws Exception {
    greet();
    offer(1, 1);
    server.settle();
    session.close();
    awaitGone(1);
    FakeChannel channel = accept(1);
    server.settle();
    assertThat(channel.attachments).hasValue(0);
  }

  @Test
  void aChannelThatClosesBeforeItIsMatchedRefusesTheOffer() throws Exception {
    greet();
    FakeChannel channel = accept(1);
    channel.close();
    offer(1, 1);
    expectRefusal(1, Reason.CLOSED_EARLY);
    assertThat(transport.cancelled).containsExactly(Reason.CLOSED_EARLY);
  }

  @Test
  void aClosedChannelIsNoLongerMatched() throws Exception {
    greet();
    FakeChannel channel = accept(1);
    server.negotiator.closed(channel, true, false);
    offer(1, 1);
    session.write(Wire.withdraw(1));
    expectRefusal(1, Reason.CLOSED_EARLY);
  }

  @Test
  void aChannelWhoseConnectionIsOverIsNotTakenForTheNextWithItsAddresses() throws Exception {
    greet();
    FakeChannel first = accept(1);
    first.over = true;
    offer(1, 1);
    first.awaitPlain(Reason.CLOSED_EARLY);
    FakeChannel second = accept(1);
    expectAnswer(1);
    second.awaitAttached();
    assertThat(first.attachments).hasValue(0);
  }

  @Test
  void aTransportThatCannotAnswerLeavesTheConnectionPlainWithItsReason() throws Exception {
    greet();
    FakeChannel channel = accept(1);
    transport.refusal = Reason.SHM_FULL;
    offer(1, 1);
    expectRefusal(1, Reason.SHM_FULL);
    channel.awaitPlain(Reason.SHM_FULL);
    transport.refusal = null;
    accept(2);
    offer(2, 2);
    expectAnswer(2);
  }

  @Test
  void anOfferThatBreaksTheTransportsRulesEndsTheSession() throws Exception {
    greet();
    FakeChannel channel = accept(1);
    transport.refusal = Reason.PROTOCOL;
    offer(1, 1);
    session.awaitEnd();
    channel.awaitPlain(Reason.PROTOCOL);
    awaitGone(1);
  }

  @Test
  void theChannelsOfASessionThatEndsAreWatchedUntilTheirPeerIsLost() throws Exception {
    greet();
    FakeChannel channel = accept(1);
    offer(1, 1);
    expectAnswer(1);
    channel.awaitAttached();
    session.close();
    channel.awaitLost();
  }

  // ---- the transport
  // ----------------------------------------------------------------------------------

  @Test
  void aTransportThatFailsOverAMessageEndsTheSessionAndNoOther() throws Exception {
    greet();
    try (RawSession other = RawSession.dial(server.announced(PORT))) {
      greet(other);
      transport.onMessage =
          message -> {
            throw new IllegalStateException("as the test wants");
          };
      other.write(Wire.transport(ByteBuffer.allocate(1)));
      other.awaitEnd();
      awaitGone(1);
    }
    assertThat(server.log).hasSize(1).first().asString().startsWith("internal-error: session");
    server.log.clear();
    accept(1);
    offer(1, 1);
    expectAnswer(1);
  }
}

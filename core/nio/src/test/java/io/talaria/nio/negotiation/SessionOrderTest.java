// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.negotiation.RawSession.Frame;
import io.talaria.nio.transport.Peer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What one thing on a session may overtake, and what not. */
@Timeout(60)
class SessionOrderTest {
  private static final int PORT = 7001;

  @TempDir Path temporary;

  private final FakeTransport transport = new FakeTransport();
  private Node client;
  private Path directory;

  @BeforeEach
  void open() throws Exception {
    directory = temporary.resolve("run");
    client = new Node(directory, transport);
    client.negotiator.execute(() -> {}); // makes the directory
    client.settle();
    assertThat(Files.isDirectory(directory)).isTrue();
  }

  private RawSession welcome(RawSession.Listener listener) throws Exception {
    RawSession session = listener.accept();
    session.expect(Wire.HELLO);
    session.write(RawSession.welcome(1));
    return session;
  }

  @Test
  void aMessageIsNotOvertakenByAnOfferMadeAfterIt() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel first = new FakeChannel(FakeChannel.key(1, PORT));
      client.negotiator.connected(first);
      try (RawSession session = welcome(listener)) {
        int id = Wire.id(session.expect(Wire.OFFER));
        session.write(Wire.answer(id, ByteBuffer.allocate(0)));
        first.awaitAttached();
        Peer peer = transport.peers.get(0);

        // As when a channel closes and the next one opens at once.
        CountDownLatch held = client.hold();
        client.negotiator.execute(() -> peer.send(ByteBuffer.wrap(new byte[] {42})));
        client.negotiator.connected(new FakeChannel(FakeChannel.key(2, PORT)));
        held.countDown();

        Frame next = session.read();
        assertThat(next.type()).isEqualTo(Wire.TRANSPORT);
        assertThat(next.body().get()).isEqualTo((byte) 42);
        assertThat(session.read().type()).isEqualTo(Wire.OFFER);
      }
    }
    client.assertNoFailure();
  }

  @Test
  void nothingIsOfferedForAChannelThatClosedDuringTheHandshake() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel first = new FakeChannel(FakeChannel.key(1, PORT));
      FakeChannel second = new FakeChannel(FakeChannel.key(2, PORT));
      client.negotiator.connected(first);
      RawSession session = listener.accept();
      session.expect(Wire.HELLO);
      client.negotiator.connected(second);
      client.negotiator.closed(first, false, false);
      client.settle();
      session.write(RawSession.welcome(1));

      ByteBuffer offer = session.expect(Wire.OFFER);
      Wire.id(offer);
      assertThat(ConnectionKey.decode(offer)).isEqualTo(second.key());
      assertThat(transport.offers).hasValue(1);
      session.close();
    }
    client.assertNoFailure();
  }

  @Test
  void aChannelThatClosesWithdrawsItsOffer() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = new FakeChannel(FakeChannel.key(1, PORT));
      client.negotiator.connected(channel);
      try (RawSession session = welcome(listener)) {
        int id = Wire.id(session.expect(Wire.OFFER));
        client.negotiator.closed(channel, false, false);
        assertThat(Wire.id(session.expect(Wire.WITHDRAW))).isEqualTo(id);
        session.write(Wire.answer(id, ByteBuffer.allocate(0)));

        session.write(Wire.transport(ByteBuffer.allocate(1)));
        while (transport.released.get() == 0) {
          Thread.sleep(1);
        }
        assertThat(transport.withdrawn).hasValue(1);
        assertThat(channel.attachments).hasValue(0);
      }
    }
    client.assertNoFailure();
  }
}

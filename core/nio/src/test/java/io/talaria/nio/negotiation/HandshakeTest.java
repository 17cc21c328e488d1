// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Reason;
import io.talaria.nio.authentication.Handshake;
import io.talaria.nio.authentication.Seal;
import io.talaria.nio.transport.TransportException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SignatureException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who gets through the handshake between hosts, and who does not; and what the seal lets in. */
@Timeout(60)
class HandshakeTest {
  private static final ConnectionKey ENDS = FakeChannel.key(40_000, 19_092);
  private static final byte[] KEY = HostPair.key(1);

  private final Handshake caller = new Handshake(true, KEY, ENDS.encoded());
  private final Handshake answerer = new Handshake(false, KEY, ENDS.encoded());

  /** Hands over as many bytes as are wanted, once or more often. */
  private static ByteBuffer give(Handshake to, ByteBuffer message) throws TransportException {
    ByteBuffer answer = ByteBuffer.allocate(0);
    while (message.hasRemaining()) {
      int wanted = to.wantedBytes();
      answer = to.received(message.slice(message.position(), wanted));
      message.position(message.position() + wanted);
    }
    return answer;
  }

  private static void assertRefused(Handshake by, ByteBuffer message, Reason reason) {
    assertThatThrownBy(() -> give(by, message))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.reason()).isEqualTo(reason));
    assertThat(by.done()).isFalse();
  }

  private static void complete(Handshake caller, Handshake answerer) throws TransportException {
    give(answerer, give(caller, give(answerer, caller.first())));
  }

  @Test
  void bothWithOneKeyGetThrough() throws Exception {
    complete(caller, answerer);
    assertThat(caller.done()).isTrue();
    assertThat(answerer.done()).isTrue();
    assertThat(caller.wantedBytes()).isZero();
  }

  @Test
  void aCallerFindsAnotherKeyOut() throws Exception {
    Handshake other = new Handshake(false, HostPair.key(2), ENDS.encoded());
    assertRefused(caller, give(other, caller.first()), Reason.NOT_AUTHENTICATED);
  }

  @Test
  void anAnswererFindsAnotherKeyOut() throws Exception {
    give(answerer, caller.first());
    assertRefused(answerer, ByteBuffer.allocate(Handshake.PROOF_BYTES), Reason.NOT_AUTHENTICATED);
  }

  @Test
  void translatedAddressesDoNotGetThrough() throws Exception {
    for (ConnectionKey seen :
        new ConnectionKey[] {
          FakeChannel.key(40_001, 19_092),
          FakeChannel.key(40_000, 19_093),
          new ConnectionKey(new InetSocketAddress("10.0.0.1", 40_000), ENDS.server()),
          new ConnectionKey(ENDS.client(), new InetSocketAddress("10.0.0.1", 19_092)),
          new ConnectionKey(ENDS.server(), ENDS.client())
        }) {
      Handshake calls = new Handshake(true, KEY, ENDS.encoded());
      Handshake behind = new Handshake(false, KEY, seen.encoded());
      assertRefused(calls, give(behind, calls.first()), Reason.NOT_AUTHENTICATED);
    }
  }

  @Test
  void whatWasSaidBeforeIsNoProof() throws Exception {
    ByteBuffer proof = give(caller, give(answerer, caller.first())).duplicate();
    Handshake next = new Handshake(false, KEY, ENDS.encoded());
    give(next, new Handshake(true, KEY, ENDS.encoded()).first());
    assertRefused(next, proof, Reason.NOT_AUTHENTICATED);
  }

  @Test
  void aReplayedReplyIsNoProof() throws Exception {
    ByteBuffer reply = give(answerer, caller.first());
    Handshake next = new Handshake(true, KEY, ENDS.encoded());
    assertRefused(next, reply, Reason.NOT_AUTHENTICATED);
  }

  @Test
  void whoSendsBackWhatHeHearsDoesNotGetThrough() throws Exception {
    ByteBuffer own = caller.first();
    ByteBuffer reflected =
        ByteBuffer.allocate(Handshake.REPLY_BYTES).put(own).put(new byte[32]).flip();
    assertRefused(caller, reflected, Reason.NOT_AUTHENTICATED);

    Handshake answers = new Handshake(false, KEY, ENDS.encoded());
    ByteBuffer reply = give(answers, new Handshake(true, KEY, ENDS.encoded()).first());
    byte[] proof = new byte[Handshake.PROOF_BYTES];
    reply.get(Handshake.CALL_BYTES, proof);
    assertRefused(answers, ByteBuffer.wrap(proof), Reason.NOT_AUTHENTICATED);
  }

  @Test
  void anotherVersionIsNamedToBoth() {
    ByteBuffer call = caller.first();
    call.putShort(Long.BYTES, (short) 2);
    assertRefused(answerer, call, Reason.VERSION_MISMATCH);
    ByteBuffer last = answerer.last();
    assertThat(last.remaining()).isEqualTo(Handshake.START_BYTES);
    last.putShort(Long.BYTES, (short) 7);
    assertRefused(caller, last, Reason.VERSION_MISMATCH);
  }

  @Test
  void anotherProtocolIsNoPeer() throws Exception {
    // With the same messages and the same version.
    Handshake other = new Handshake("Talaria test", 1, false, KEY, ENDS.encoded());
    assertRefused(caller, give(other, caller.first()), Reason.NOT_AUTHENTICATED);
    Handshake next = new Handshake("Talaria test", 2, false, KEY, ENDS.encoded());
    assertRefused(next, caller.first(), Reason.VERSION_MISMATCH);
  }

  @Test
  void somethingElseIsNotTalkedTo() {
    assertRefused(answerer, ByteBuffer.allocate(Handshake.CALL_BYTES), Reason.PROTOCOL);
    assertThat(answerer.last().remaining()).isZero();
    assertRefused(caller, ByteBuffer.allocate(Handshake.START_BYTES), Reason.PROTOCOL);
  }

  // ---- the seal

  private static ByteBuffer body(ByteBuffer sealed) {
    assertThat(sealed.getShort(0)).isEqualTo((short) (sealed.remaining() - Wire.LENGTH_BYTES));
    return sealed.slice(Wire.LENGTH_BYTES, sealed.remaining() - Wire.LENGTH_BYTES);
  }

  private Seal[] seals() throws TransportException {
    complete(caller, answerer);
    return new Seal[] {caller.seal(), answerer.seal()};
  }

  private static void assertNotOpened(Seal seal, ByteBuffer frame) {
    assertThatThrownBy(() -> seal.open(frame)).isInstanceOf(SignatureException.class);
  }

  @Test
  void sealedFramesArriveAsTheyWere() throws Exception {
    Seal[] seals = seals();
    for (int id = 0; id < 3; id++) {
      ByteBuffer opened = seals[1].open(body(seals[0].close(Wire.withdraw(id))));
      assertThat(opened.get()).isEqualTo((byte) Wire.WITHDRAW);
      assertThat(Wire.id(opened)).isEqualTo(id);
      opened = seals[0].open(body(seals[1].close(RawSession.welcome(id))));
      assertThat(opened.get()).isEqualTo((byte) Wire.WELCOME);
    }
  }

  @Test
  void aFrameCountsOnceAndInItsOrderAndDirection() throws Exception {
    Seal[] seals = seals();
    ByteBuffer first = body(seals[0].close(Wire.withdraw(1)));
    ByteBuffer second = body(seals[0].close(Wire.withdraw(1)));
    assertNotOpened(seals[0], first.duplicate()); // sent back
    assertThat(seals[1].open(first.duplicate()).remaining()).isEqualTo(5);
    assertNotOpened(seals[1], first.duplicate()); // said again
    assertNotOpened(new Seal(new byte[32], new byte[32]), second.duplicate());
  }

  @Test
  void anyChangeIsFound() throws Exception {
    Seal[] seals = seals();
    byte[] frame = new byte[21];
    body(seals[0].close(Wire.withdraw(1))).get(frame);
    for (int bit = 0; bit < frame.length * 8; bit++) {
      byte[] changed = frame.clone();
      changed[bit >> 3] ^= (byte) (1 << (bit & 7));
      // Each is the first frame of its direction.
      assertNotOpened(answerer.seal(), ByteBuffer.wrap(changed));
    }
    for (int length = 0; length < frame.length; length++) {
      assertNotOpened(answerer.seal(), ByteBuffer.wrap(frame, 0, length).slice());
    }
  }
}

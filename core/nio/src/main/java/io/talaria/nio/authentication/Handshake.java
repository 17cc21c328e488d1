// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.authentication;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import java.nio.ByteBuffer;

/**
 * How two processes on two hosts prove to each other that they have the same key and see the same
 * addresses, before anything else is said. Messages have fixed sizes; big-endian.
 *
 * <pre>
 *   CALL     caller    magic:8 version:2 nonce:32
 *   REPLY    answerer  magic:8 version:2 nonce:32 proof:32
 *   PROOF    caller    proof:32
 * </pre>
 *
 * <p>Both proofs, and both keys of the session's {@link Seal}, are of {@link KeyProof}, with the
 * addresses of the connection as each side sees them. A REPLY of another version ends after the
 * version. Negotiation thread.
 */
public final class Handshake {
  public static final long MAGIC = 0x5461_6c48_6f73_7400L; // "TalHost", 0
  public static final int VERSION = 1;
  public static final int NONCE_BYTES = KeyProof.NONCE_BYTES;
  public static final int PROOF_BYTES = KeyProof.PROOF_BYTES;
  public static final int START_BYTES = Long.BYTES + Short.BYTES;
  public static final int CALL_BYTES = START_BYTES + NONCE_BYTES;
  public static final int REPLY_BYTES = CALL_BYTES + PROOF_BYTES;

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final String PROTOCOL = "Talaria between hosts";

  private enum State {
    CALL_EXPECTED,
    REPLY_STARTS,
    REPLY_EXPECTED,
    PROOF_EXPECTED,
    DONE
  }

  private final String protocol;
  private final int version;
  private final boolean caller;
  private final byte[] key;
  private final byte[] addresses;
  private final byte[] ownNonce = KeyProof.nonce();
  private byte[] peerNonce;
  private State state;
  private ByteBuffer last = NOTHING;

  /**
   * The handshake between hosts.
   *
   * @param caller whether this side has connected
   * @param key what both have
   * @param addresses of the connection on which this is said, as this side sees them: the caller's
   *     and the answerer's, in a form that is the same on both sides
   */
  public Handshake(boolean caller, byte[] key, byte[] addresses) {
    this(PROTOCOL, VERSION, caller, key, addresses);
  }

  /**
   * The same messages for another protocol.
   *
   * @param protocol its name, see {@link KeyProof}
   * @param version its version, which no other protocol with these messages has
   * @param caller whether this side has connected
   * @param key what both have
   * @param addresses of the connection, see {@link KeyProof#addresses}
   */
  public Handshake(String protocol, int version, boolean caller, byte[] key, byte[] addresses) {
    this.protocol = protocol;
    this.version = version;
    this.caller = caller;
    this.key = key;
    this.addresses = addresses.clone();
    state = caller ? State.REPLY_STARTS : State.CALL_EXPECTED;
  }

  /** What is to be sent before anything is received. */
  public ByteBuffer first() {
    return caller ? start(CALL_BYTES).put(ownNonce).flip() : NOTHING;
  }

  private ByteBuffer start(int bytes) {
    return ByteBuffer.allocate(bytes).putLong(MAGIC).putShort((short) version);
  }

  /** How many bytes {@link #received} wants next; 0: no more. */
  public int wantedBytes() {
    return switch (state) {
      case CALL_EXPECTED -> CALL_BYTES;
      case REPLY_STARTS -> START_BYTES;
      case REPLY_EXPECTED -> NONCE_BYTES + PROOF_BYTES;
      case PROOF_EXPECTED -> PROOF_BYTES;
      case DONE -> 0;
    };
  }

  /**
   * Takes what the other side has sent, as many bytes as are wanted.
   *
   * @return what is to be sent, perhaps nothing
   * @throws TransportException if the other side is not to be talked to
   */
  public ByteBuffer received(ByteBuffer message) throws TransportException {
    switch (state) {
      case CALL_EXPECTED -> {
        int theirs = started(message);
        if (theirs != version) {
          last = start(START_BYTES).flip();
          throw otherVersion(theirs);
        }
        peerNonce = bytes(message, NONCE_BYTES);
        state = State.PROOF_EXPECTED;
        return start(REPLY_BYTES).put(ownNonce).put(keyProof().proof(false, addresses)).flip();
      }
      case REPLY_STARTS -> {
        int theirs = started(message);
        if (theirs != version) {
          throw otherVersion(theirs);
        }
        state = State.REPLY_EXPECTED;
        return NOTHING;
      }
      case REPLY_EXPECTED -> {
        peerNonce = bytes(message, NONCE_BYTES);
        check(message, false);
        return ByteBuffer.wrap(keyProof().proof(true, addresses));
      }
      case PROOF_EXPECTED -> {
        check(message, true);
        return NOTHING;
      }
      default -> throw new IllegalStateException("more than is wanted");
    }
  }

  /** What is to be said to a side that is not talked to any more, perhaps nothing. */
  public ByteBuffer last() {
    return last;
  }

  private static int started(ByteBuffer message) throws TransportException {
    if (message.getLong() != MAGIC) {
      throw new TransportException(Reason.PROTOCOL, "no rendezvous, but something else");
    }
    return Short.toUnsignedInt(message.getShort());
  }

  private TransportException otherVersion(int theirs) {
    return new TransportException(
        Reason.VERSION_MISMATCH, "a rendezvous of version " + theirs + " instead of " + version);
  }

  private void check(ByteBuffer message, boolean byCaller) throws TransportException {
    if (!keyProof().isProof(bytes(message, PROOF_BYTES), byCaller, addresses)) {
      throw new TransportException(
          Reason.NOT_AUTHENTICATED, "another key, or addresses are translated on the way");
    }
    state = State.DONE;
  }

  public boolean done() {
    return state == State.DONE;
  }

  /** What guards the session; only once it is done. */
  public Seal seal() {
    byte[] callers = secret("caller's frames");
    byte[] answerers = secret("answerer's frames");
    return caller ? new Seal(callers, answerers) : new Seal(answerers, callers);
  }

  /** A key of the session, see {@link KeyProof#secret}; only once it is done. */
  public byte[] secret(String label) {
    return keyProof().secret(label, addresses);
  }

  private KeyProof keyProof() {
    return new KeyProof(
        protocol, version, key, caller ? ownNonce : peerNonce, caller ? peerNonce : ownNonce);
  }

  private static byte[] bytes(ByteBuffer from, int length) {
    byte[] bytes = new byte[length];
    from.get(bytes);
    return bytes;
  }
}

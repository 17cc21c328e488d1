// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The frames of a session, big-endian, over a Unix-domain stream socket.
 *
 * <pre>
 *   frame     length:2 (of type and body)  type:1  body
 *
 *   HELLO     1   magic:8 version:2 pid:8 bootId:s networkNamespace:s shares:1 transport:s payload:p
 *   WELCOME   2   pid:8 across:1
 *   REJECT    3   reason:1                     and the session ends
 *   OFFER     4   id:4 client:a server:a proof:s payload:p
 *   ANSWER    5   id:4 payload:p
 *   REFUSE    6   id:4 reason:1
 *   WITHDRAW  7   id:4
 *   TRANSPORT 8   message, the rest of the frame
 *   PROBE     9   id:4 client:a server:a nonce:s
 *   PROBE_AT  10  id:4 port:2
 *
 *   s = length:1 bytes, p = length:2 bytes, a = length:1 (4 or 16, or 20 with a zone) address port:2
 * </pre>
 *
 * <p>The side that dialled sends HELLO first, the other WELCOME or REJECT; then the dialling side
 * sends OFFERs and WITHDRAWs, and gets exactly one ANSWER or REFUSE for each OFFER; both send
 * TRANSPORT. If the two are in different network namespaces, which share is 1 in HELLO permits and
 * across is 1 in WELCOME tells, the dialling side sends PROBEs, gets one PROBE_AT for each, and
 * puts a {@link SegmentProof} in each OFFER; else that is empty.
 */
final class Wire {
  static final long MAGIC = 0x5461_6c61_7269_6100L; // "Talaria", 0
  static final int VERSION = 4;

  static final int HELLO = 1;
  static final int WELCOME = 2;
  static final int REJECT = 3;
  static final int OFFER = 4;
  static final int ANSWER = 5;
  static final int REFUSE = 6;
  static final int WITHDRAW = 7;
  static final int TRANSPORT = 8;
  static final int PROBE = 9;
  static final int PROBE_AT = 10;

  static final int LENGTH_BYTES = 2;
  static final int MAX_FRAME_BYTES = 2048;
  private static final int MAX_STRING_BYTES = 64;
  private static final byte[] NONE = {};

  private Wire() {}

  /**
   * What the dialling side says of itself.
   *
   * @param shares whether it shares memory with other network namespaces
   */
  record Hello(
      int version,
      long pid,
      String bootId,
      String networkNamespace,
      boolean shares,
      String transport,
      ByteBuffer payload) {}

  /**
   * What the dialled side says of itself.
   *
   * @param across whether it is in another network namespace
   */
  record Welcome(long pid, boolean across) {}

  static ByteBuffer hello(Hello hello) {
    ByteBuffer frame = begin(HELLO);
    frame.putLong(MAGIC).putShort((short) hello.version()).putLong(hello.pid());
    string(frame, hello.bootId());
    string(frame, hello.networkNamespace());
    flag(frame, hello.shares());
    string(frame, hello.transport());
    return end(payload(frame, hello.payload()));
  }

  static Hello hello(ByteBuffer body) throws MalformedFrameException {
    if (body.remaining() < Long.BYTES + Short.BYTES + Long.BYTES || body.getLong() != MAGIC) {
      throw new MalformedFrameException("a HELLO without its magic number");
    }
    int version = unsignedShort(body);
    if (version != VERSION) {
      return new Hello(version, body.getLong(), "", "", false, "", ByteBuffer.allocate(0));
    }
    Hello hello =
        new Hello(
            version,
            body.getLong(),
            string(body),
            string(body),
            flag(body),
            string(body),
            payload(body));
    return atEnd(body, hello);
  }

  static ByteBuffer welcome(Welcome welcome) {
    return end(flag(begin(WELCOME).putLong(welcome.pid()), welcome.across()));
  }

  static Welcome welcome(ByteBuffer body) throws MalformedFrameException {
    need(body, Long.BYTES);
    return atEnd(body, new Welcome(body.getLong(), flag(body)));
  }

  static ByteBuffer reject(Reason reason) {
    return end(begin(REJECT).put((byte) reason.number()));
  }

  /**
   * An offer.
   *
   * @param proof of where the connection ends if that is another network namespace, or null
   */
  static ByteBuffer offer(int id, ConnectionKey key, SegmentProof proof, ByteBuffer payload) {
    ByteBuffer frame = begin(OFFER).putInt(id);
    key.encode(frame);
    string(frame, proof == null ? NONE : proof.encoded());
    return end(payload(frame, payload));
  }

  /** The proof in an offer, or null. */
  static SegmentProof proof(ByteBuffer body) throws MalformedFrameException {
    byte[] proof = shortBytes(body);
    return proof.length == 0 ? null : SegmentProof.decode(proof);
  }

  /**
   * Asks where to send datagrams.
   *
   * @param between where they come from, and the listener
   */
  static ByteBuffer probe(int id, ConnectionKey between, Nonce nonce) {
    ByteBuffer frame = begin(PROBE).putInt(id);
    between.encode(frame);
    string(frame, nonce.bytes().array());
    return end(frame);
  }

  /** The bytes that a probe sends. */
  static Nonce nonce(ByteBuffer body) throws MalformedFrameException {
    byte[] nonce = shortBytes(body);
    if (nonce.length != Nonce.BYTES) {
      throw new MalformedFrameException("a nonce of " + nonce.length + " bytes");
    }
    return atEnd(body, Nonce.read(ByteBuffer.wrap(nonce)));
  }

  /** Where to send them; 0: they cannot come. */
  static ByteBuffer probeAt(int id, int port) {
    return end(begin(PROBE_AT).putInt(id).putShort((short) port));
  }

  static ByteBuffer answer(int id, ByteBuffer payload) {
    return end(payload(begin(ANSWER).putInt(id), payload));
  }

  static ByteBuffer refuse(int id, Reason reason) {
    return end(begin(REFUSE).putInt(id).put((byte) reason.number()));
  }

  static ByteBuffer withdraw(int id) {
    return end(begin(WITHDRAW).putInt(id));
  }

  static ByteBuffer transport(ByteBuffer message) {
    return end(begin(TRANSPORT).put(message.duplicate()));
  }

  static Reason reason(ByteBuffer body) throws MalformedFrameException {
    Reason reason = Reason.ofNumber(unsignedByte(body));
    return atEnd(body, reason == null ? Reason.REFUSED : reason);
  }

  static int id(ByteBuffer body) throws MalformedFrameException {
    need(body, Integer.BYTES);
    return body.getInt();
  }

  static int unsignedByte(ByteBuffer from) throws MalformedFrameException {
    need(from, 1);
    return Byte.toUnsignedInt(from.get());
  }

  static int unsignedShort(ByteBuffer from) throws MalformedFrameException {
    need(from, Short.BYTES);
    return Short.toUnsignedInt(from.getShort());
  }

  static byte[] bytes(ByteBuffer from, int length) throws MalformedFrameException {
    need(from, length);
    byte[] bytes = new byte[length];
    from.get(bytes);
    return bytes;
  }

  static ByteBuffer payload(ByteBuffer from) throws MalformedFrameException {
    return ByteBuffer.wrap(bytes(from, unsignedShort(from)));
  }

  static <T> T atEnd(ByteBuffer body, T value) throws MalformedFrameException {
    if (body.hasRemaining()) {
      throw new MalformedFrameException(body.remaining() + " bytes too many");
    }
    return value;
  }

  private static void need(ByteBuffer from, int bytes) throws MalformedFrameException {
    if (from.remaining() < bytes) {
      throw new MalformedFrameException("cut short");
    }
  }

  private static boolean flag(ByteBuffer from) throws MalformedFrameException {
    int flag = unsignedByte(from);
    if (flag > 1) {
      throw new MalformedFrameException("a flag of " + flag);
    }
    return flag == 1;
  }

  private static ByteBuffer flag(ByteBuffer to, boolean flag) {
    return to.put((byte) (flag ? 1 : 0));
  }

  private static String string(ByteBuffer from) throws MalformedFrameException {
    return new String(shortBytes(from), StandardCharsets.UTF_8);
  }

  private static byte[] shortBytes(ByteBuffer from) throws MalformedFrameException {
    int length = unsignedByte(from);
    if (length > MAX_STRING_BYTES) {
      throw new MalformedFrameException("a string of " + length + " bytes");
    }
    return bytes(from, length);
  }

  private static void string(ByteBuffer to, String text) {
    string(to, text.getBytes(StandardCharsets.UTF_8));
  }

  private static void string(ByteBuffer to, byte[] bytes) {
    int length = Math.min(bytes.length, MAX_STRING_BYTES);
    to.put((byte) length).put(bytes, 0, length);
  }

  private static ByteBuffer payload(ByteBuffer to, ByteBuffer payload) {
    return to.putShort((short) payload.remaining()).put(payload.duplicate());
  }

  private static ByteBuffer begin(int type) {
    return ByteBuffer.allocate(LENGTH_BYTES + MAX_FRAME_BYTES).putShort((short) 0).put((byte) type);
  }

  /** The frame in an array of its own length: it may have to wait, and many with it. */
  private static ByteBuffer end(ByteBuffer frame) {
    frame.flip();
    frame.putShort(0, (short) (frame.limit() - LENGTH_BYTES));
    return ByteBuffer.allocate(frame.limit()).put(frame).flip();
  }
}

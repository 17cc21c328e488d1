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
 *   HELLO     1   magic:8 version:2 pid:8 bootId:s networkNamespace:s transport:s payload:p
 *   WELCOME   2   pid:8
 *   REJECT    3   reason:1                     and the session ends
 *   OFFER     4   id:4 client:a server:a payload:p
 *   ANSWER    5   id:4 payload:p
 *   REFUSE    6   id:4 reason:1
 *   WITHDRAW  7   id:4
 *   TRANSPORT    8   message, the rest of the frame
 *
 *   s = length:1 bytes, p = length:2 bytes, a = length:1 (4 or 16) address port:2
 * </pre>
 *
 * <p>The side that dialled sends HELLO first, the other WELCOME or REJECT; then the dialling side
 * sends OFFERs and WITHDRAWs, and gets exactly one ANSWER or REFUSE for each OFFER; both send
 * TRANSPORT.
 */
final class Wire {
  static final long MAGIC = 0x5461_6c61_7269_6100L; // "Talaria", 0
  static final int VERSION = 3;

  static final int HELLO = 1;
  static final int WELCOME = 2;
  static final int REJECT = 3;
  static final int OFFER = 4;
  static final int ANSWER = 5;
  static final int REFUSE = 6;
  static final int WITHDRAW = 7;
  static final int TRANSPORT = 8;

  static final int LENGTH_BYTES = 2;
  static final int MAX_FRAME_BYTES = 2048;
  private static final int MAX_STRING_BYTES = 64;

  private Wire() {}

  /** What one side says of itself. */
  record Hello(
      int version,
      long pid,
      String bootId,
      String networkNamespace,
      String transport,
      ByteBuffer payload) {}

  static ByteBuffer hello(Hello hello) {
    ByteBuffer frame = begin(HELLO);
    frame.putLong(MAGIC).putShort((short) hello.version()).putLong(hello.pid());
    string(frame, hello.bootId());
    string(frame, hello.networkNamespace());
    string(frame, hello.transport());
    return end(payload(frame, hello.payload()));
  }

  static Hello hello(ByteBuffer body) throws MalformedFrameException {
    if (body.remaining() < Long.BYTES + Short.BYTES + Long.BYTES || body.getLong() != MAGIC) {
      throw new MalformedFrameException("a HELLO without its magic number");
    }
    int version = unsignedShort(body);
    if (version != VERSION) {
      return new Hello(version, body.getLong(), "", "", "", ByteBuffer.allocate(0));
    }
    Hello hello =
        new Hello(version, body.getLong(), string(body), string(body), string(body), payload(body));
    return atEnd(body, hello);
  }

  static ByteBuffer welcome(long pid) {
    return end(begin(WELCOME).putLong(pid));
  }

  static long welcome(ByteBuffer body) throws MalformedFrameException {
    need(body, Long.BYTES);
    return atEnd(body, body.getLong());
  }

  static ByteBuffer reject(Reason reason) {
    return end(begin(REJECT).put((byte) reason.number()));
  }

  static ByteBuffer offer(int id, ConnectionKey key, ByteBuffer payload) {
    ByteBuffer frame = begin(OFFER).putInt(id);
    key.encode(frame);
    return end(payload(frame, payload));
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

  private static String string(ByteBuffer from) throws MalformedFrameException {
    int length = unsignedByte(from);
    if (length > MAX_STRING_BYTES) {
      throw new MalformedFrameException("a string of " + length + " bytes");
    }
    return new String(bytes(from, length), StandardCharsets.UTF_8);
  }

  private static void string(ByteBuffer to, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
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

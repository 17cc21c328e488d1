// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import java.nio.ByteBuffer;

/**
 * What two of these transports tell each other, big-endian. A token names a stream to the process
 * that made it up; it stands in everything that is sent there.
 *
 * <pre>
 *   through the session
 *     peer          version:4
 *     offer, answer token:8 address, the rest (see UcxWorkerAddress)
 *     ACCEPT        1 token:8 window:4    the client's reader is ready
 *     ESTABLISHED   2 token:8 window:4    so is the server's: decided
 *     WITHDRAWN     3 token:8             the server: decided; the client: asks for it
 *     IN_SWITCHED   4 token:8             all bytes of TCP are taken
 *     RELEASED      5 token:8             all that was sent has left; nothing will be read
 *
 *   through UCX's stream, in each direction
 *     token:8       at once, when the endpoint is made
 *     switchAt:8    when the output leaves TCP
 *     bytes         the program's
 *
 *   through UCX's messages, the tag being the token
 *     GRANT         1:8 limit:8           so many bytes in all may be sent
 *     IN_CLOSED     2:8 left:8            the input is abandoned; 1: with bytes unread, at a close
 *     FINISHED      3:8 total:8           the output ended after so many bytes
 *     ABORTED       4:8 total:8           it ended with a reset
 * </pre>
 */
final class UcxMessages {
  static final int VERSION = 1;

  static final byte ACCEPT = 1;
  static final byte ESTABLISHED = 2;
  static final byte WITHDRAWN = 3;
  static final byte IN_SWITCHED = 4;
  static final byte RELEASED = 5;

  static final int GRANT = 1;
  static final int IN_CLOSED = 2;
  static final int FINISHED = 3;
  static final int ABORTED = 4;

  /** What IN_CLOSED says where bytes are left unread, and else. */
  static final long LEFT_UNREAD = 1;

  static final long LEFT_NONE = 0;

  static final int NOTE_BYTES = 16;
  static final int HEAD_BYTES = 16;

  private static final int TOKEN_BYTES = 8;

  private UcxMessages() {}

  /** What an offer or an answer says. */
  @SuppressWarnings("ArrayRecordComponent") // they are never compared
  record Place(long token, byte[] address) {}

  static ByteBuffer peer() {
    return ByteBuffer.allocate(Integer.BYTES).putInt(VERSION).flip();
  }

  static void checkPeer(ByteBuffer payload) throws TransportException {
    if (payload.remaining() != Integer.BYTES) {
      throw new TransportException(Reason.PROTOCOL, "a peer of " + payload.remaining() + " bytes");
    }
    int version = payload.getInt();
    if (version != VERSION) {
      throw new TransportException(
          Reason.VERSION_MISMATCH, "version " + version + " instead of " + VERSION);
    }
  }

  static ByteBuffer place(long token, byte[] address) {
    return ByteBuffer.allocate(TOKEN_BYTES + address.length).putLong(token).put(address).flip();
  }

  static Place place(ByteBuffer payload) throws TransportException {
    if (payload.remaining() <= TOKEN_BYTES) {
      throw new TransportException(Reason.PROTOCOL, "a place of " + payload.remaining() + " bytes");
    }
    long token = payload.getLong();
    byte[] address = new byte[payload.remaining()];
    payload.get(address);
    try {
      return new Place(token, UcxWorkerAddress.unwrap(address));
    } catch (IllegalArgumentException e) {
      throw new TransportException(Reason.PROTOCOL, e.getMessage(), e);
    }
  }

  static ByteBuffer about(byte type, long token) {
    return ByteBuffer.allocate(1 + TOKEN_BYTES).put(type).putLong(token).flip();
  }

  static ByteBuffer window(byte type, long token, int windowBytes) {
    return ByteBuffer.allocate(1 + TOKEN_BYTES + Integer.BYTES)
        .put(type)
        .putLong(token)
        .putInt(windowBytes)
        .flip();
  }
}

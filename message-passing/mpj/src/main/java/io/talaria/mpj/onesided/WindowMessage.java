// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.datatype.Layout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a message between the ranks of a window, in native byte order.
 *
 * <pre>
 *  0      4    8    16             24   32      36       40
 *  | kind | op | id | displacement | at | count | length | layout | data ...
 * </pre>
 *
 * <p>A part of a window is described by displacement, count and layout, as in {@link TargetPart};
 * {@code at} and {@code length} select bytes of its packed elements. Replies have no layout, and
 * name the request by {@code id}.
 */
final class WindowMessage {
  /** Data replace the part. */
  static final int PUT = 1;

  /** Data are combined with the part by the operation. */
  static final int ACCUMULATE = 2;

  /** The same; a DATA with the old elements answers. */
  static final int FETCH = 3;

  /** A DATA with the elements answers. */
  static final int GET = 4;

  /** Data are the expected element and the new one; a DATA with the old one answers. */
  static final int SWAP = 5;

  /** Elements for the request with the id. */
  static final int DATA = 6;

  /**
   * The request with the id, or one without an id, failed; data are the text, and the operation is
   * {@link #RANGE} if its elements are not in the window.
   */
  static final int FAILED = 7;

  /** An ACK with the id answers, after all that was sent before is done. */
  static final int FLUSH = 8;

  /** All that was sent before the FLUSH or UNLOCK with the id is done. */
  static final int ACK = 9;

  /** Asks for the lock, exclusive if the operation is 1; a GRANT answers. */
  static final int LOCK = 10;

  /** The lock is the receiver's. */
  static final int GRANT = 11;

  /** Gives the lock back, exclusive if the operation is 1; an ACK answers. */
  static final int UNLOCK = 12;

  /** The sender's window is exposed to the receiver. */
  static final int POST = 13;

  /** The receiver's window is not accessed by the sender any more. */
  static final int COMPLETE = 14;

  /** See {@link #FAILED}. */
  static final int RANGE = 1;

  private static final int FIXED = 40;

  final int kind;
  final int op;
  final long id;
  final long displacement;
  final long at;
  final int count;
  final int length;

  /** Null in messages that describe no part. */
  final Layout layout;

  /** What follows the header. */
  final MemorySegment data;

  private WindowMessage(byte[] bytes) {
    ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    kind = from.getInt();
    op = from.getInt();
    id = from.getLong();
    displacement = from.getLong();
    at = from.getLong();
    count = from.getInt();
    length = from.getInt();
    layout = kind <= SWAP ? Layout.decode(from) : null;
    data = MemorySegment.ofArray(bytes).asSlice(from.position());
  }

  static WindowMessage of(byte[] bytes) {
    return new WindowMessage(bytes);
  }

  /** The part that a request is about. */
  TargetPart part(int rank) {
    return new TargetPart(rank, displacement, count, layout);
  }

  /** A message about a range of a part, with room for data at its end. */
  static byte[] request(
      int kind, int op, long id, TargetPart part, long at, int length, int dataBytes) {
    Layout layout = part.layout();
    int header = FIXED + layout.encodedBytes();
    byte[] bytes = new byte[header + dataBytes];
    ByteBuffer to = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    to.putInt(kind).putInt(op).putLong(id).putLong(part.displacement()).putLong(at);
    to.putInt(part.count()).putInt(length);
    layout.encode(to);
    return bytes;
  }

  /** A message about no part, with room for data at its end. */
  static byte[] control(int kind, int op, long id, long at, int dataBytes) {
    byte[] bytes = new byte[FIXED + dataBytes];
    ByteBuffer to = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    to.putInt(kind).putInt(op).putLong(id).putLong(0).putLong(at).putInt(0).putInt(dataBytes);
    return bytes;
  }
}

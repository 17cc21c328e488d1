// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;

/**
 * What a rank has combined so far in a reduction. Each team has one, and uses it for each call.
 *
 * <p>If the program's buffers are arrays without gaps, and the order of two operands does not
 * matter to the operation, operands are sent from the send buffer and results are computed in the
 * receive buffer (<em>direct</em>): with two ranks nothing is copied but the messages. Otherwise
 * operands are copied first, and results last.
 */
final class Accumulator {
  private Layout layout;

  /** The datatype without its gaps. */
  private Layout one;

  private int count;
  private Reduction op;
  private boolean direct;

  /** Where the result is to be in the end; null if this rank gets none. */
  private Object result;

  private int resultOffset;

  private Object value;
  private int offset;

  /** See {@link #given()}. */
  private boolean given;

  /** Where operands of others are received if the value may be written. */
  private Object spare;

  /** Scratch arrays that were taken. */
  private Object first;

  private Object second;

  /**
   * Begins a call with this rank's operands.
   *
   * @param send buffer with them
   * @param sendOffset of the first one
   * @param recv buffer for the result, or null if this rank gets none
   * @param recvOffset of its first element
   * @param datatypes how many this rank gives
   * @param wanted how many results this rank gets
   */
  void begin(
      Object send,
      int sendOffset,
      Object recv,
      int recvOffset,
      int datatypes,
      int wanted,
      Layout type,
      Reduction operation) {
    layout = type;
    one = packed(type);
    count = wanted;
    op = operation;
    result = recv;
    resultOffset = recvOffset;
    spare = null;
    first = null;
    second = null;
    direct = isDirect(send, sendOffset, datatypes);
    if (direct) {
      value = send;
      offset = sendOffset;
      given = send != recv || sendOffset != recvOffset;
    } else {
      value = load(send, sendOffset, datatypes, type, take(datatypes));
      offset = 0;
      given = false;
    }
  }

  /** Datatypes of the layout without its gaps. */
  static Layout packed(Layout layout) {
    return layout.dense() ? layout : Layout.basic(layout.base(), layout.size());
  }

  private boolean isDirect(Object send, int sendOffset, int datatypes) {
    if (!(op instanceof Arithmetic predefined && predefined.symmetric())
        || !layout.dense()
        || !isArray(send)) {
      return false;
    }
    if (result == null) {
      return true;
    }
    if (!isArray(result)) {
      return false;
    }
    // In place is right; buffers that overlap otherwise are not.
    return send != result
        || (sendOffset == resultOffset && datatypes == count)
        || sendOffset + elements(datatypes) <= resultOffset
        || resultOffset + elements(count) <= sendOffset;
  }

  private static boolean isArray(Object buffer) {
    return buffer != null && buffer.getClass().isArray();
  }

  private long elements(int datatypes) {
    return (long) datatypes * one.size();
  }

  /**
   * Makes a dense copy of what a rank contributes. The operation may change objects in place: so
   * none of them is the program's, and none is there twice.
   *
   * @param copy a dense array that takes it
   * @return this array
   */
  static Object load(Object buffer, int offset, int count, Layout layout, Object copy) {
    Elements.packValues(buffer, offset, count, layout, copy, 0, true);
    return copy;
  }

  private Object take(int datatypes) {
    Object array = Scratch.take(one.base(), datatypes * one.size());
    if (first == null) {
      first = array;
    } else {
      second = array;
    }
    return array;
  }

  /** The datatype of what is sent and received. */
  Layout type() {
    return one;
  }

  /** What has been combined so far, or this rank's operands. */
  Object value() {
    return value;
  }

  /** Of the first element of {@link #value}. */
  int offset() {
    return offset;
  }

  /** Whether the value is the program's send buffer, which is only read. */
  boolean given() {
    return given;
  }

  /** Narrows the value to some of its elements, of which there are as many as this rank gets. */
  void narrow(int datatypes) {
    offset += datatypes * one.size();
  }

  /** Where the operands of another rank are received. */
  Object room() {
    if (given && result != null) {
      return result;
    }
    if (spare == null) {
      spare = take(count);
    }
    return spare;
  }

  /** Of the first element of {@link #room}. */
  int roomOffset() {
    return given && result != null ? resultOffset : 0;
  }

  /**
   * Combines the value with what was received in the {@link #room}.
   *
   * @param left whether the other operands come before those of this rank
   */
  void combine(boolean left) {
    Object other = room();
    int otherOffset = roomOffset();
    if (!given && (left || direct)) {
      op.apply(other, otherOffset, value, offset, count, one);
    } else {
      op.apply(value, offset, other, otherOffset, count, one);
      take(other, otherOffset);
    }
  }

  /** Has what was received in the {@link #room} be the value. */
  void replace() {
    take(room(), roomOffset());
  }

  private void take(Object room, int roomOffset) {
    if (room == spare) {
      spare = given ? null : value;
    }
    value = room;
    offset = roomOffset;
    given = false;
  }

  /** Puts the value where the program wants it, if it is not there. */
  void finish() {
    if (result != null && (value != result || offset != resultOffset)) {
      Elements.unpack(value, offset, result, resultOffset, count, layout);
    }
    forget();
  }

  /** Gives back what is not needed any more, without a result. */
  void forget() {
    BaseType base = one.base();
    if (first != null) {
      Scratch.give(base, first);
    }
    if (second != null) {
      Scratch.give(base, second);
    }
    first = null;
    second = null;
    spare = null;
    value = null;
    result = null;
    op = null;
  }
}

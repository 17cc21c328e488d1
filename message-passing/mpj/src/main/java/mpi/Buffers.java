// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;
import java.lang.foreign.MemorySegment;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

/** Checks of what a program hands over as a buffer. */
final class Buffers {
  private Buffers() {}

  /**
   * The array or segment behind a buffer; a ByteBuffer counts from its index 0.
   *
   * @param buffer what was given
   * @param type that its elements are of, null if that is missing
   */
  static Object normal(Object buffer, Datatype type) {
    if (!(buffer instanceof Buffer b)) {
      return buffer;
    }
    // What travels is native, and a ByteBuffer is big-endian unless told otherwise.
    ByteOrder order = order(b);
    if (type != null && type.layout().base().bytes() > 1 && order != ByteOrder.nativeOrder()) {
      throw new MPIException(
          MPIException.ERR_BUFFER,
          "buffer is "
              + order
              + ", messages of "
              + type
              + " are "
              + ByteOrder.nativeOrder()
              + ": set its order(ByteOrder.nativeOrder()) before it is filled, or send BYTE");
    }
    return MemorySegment.ofBuffer(b.duplicate().clear());
  }

  private static ByteOrder order(Buffer buffer) {
    return switch (buffer) {
      case ByteBuffer b -> b.order();
      case CharBuffer b -> b.order();
      case ShortBuffer b -> b.order();
      case IntBuffer b -> b.order();
      case LongBuffer b -> b.order();
      case FloatBuffer b -> b.order();
      case DoubleBuffer b -> b.order();
    };
  }

  /**
   * A reference that must be there.
   *
   * @param value what was given
   * @param name of the argument
   */
  static <T> T given(T value, String name) {
    if (value == null) {
      throw new MPIException(MPIException.ERR_ARG, name + " is null");
    }
    return value;
  }

  /** A number that the call has to have as an int. */
  static int toInt(long value, String what) {
    if (value != (int) value) {
      throw new MPIException(
          MPIException.ERR_COUNT, what + " " + value + ": " + Integer.MAX_VALUE + " is the most");
    }
    return (int) value;
  }

  /** Throws unless all elements of the message are in the buffer. */
  static void check(Object buffer, long offset, long count, Layout layout, Datatype type) {
    if (count < 0) {
      throw new MPIException(MPIException.ERR_COUNT, "count " + count + ": 0 or more is allowed");
    }
    if (count == 0 || layout.size() == 0) {
      return;
    }
    // What follows cannot overflow then: both factors are ints.
    toInt(count, "count");
    long length = layout.base().lengthOf(buffer);
    if (length < 0) {
      throw new MPIException(
          MPIException.ERR_BUFFER,
          "buffer is "
              + (buffer == null ? "null" : "of type " + buffer.getClass().getTypeName())
              + ": datatype "
              + type
              + " goes with "
              + layout.base().arrayName()
              + ", MemorySegment or ByteBuffer");
    }
    long last = (count - 1L) * layout.extent();
    long from = offset + layout.first() + Math.min(0, last);
    long end = offset + layout.end() + Math.max(0, last);
    if (from < 0 || end > length) {
      throw new MPIException(
          MPIException.ERR_BUFFER,
          "offset "
              + offset
              + " and count "
              + count
              + " of "
              + type
              + " take elements "
              + from
              + " to "
              + (end - 1)
              + ": the buffer has "
              + length);
    }
    if (layout.base() == BaseType.OBJECT) {
      // Elements of a type that lie on each other can be more than the buffer has.
      toInt(count * layout.size(), "elements of the message:");
    }
  }

  /** The same for a receive, whose elements must not lie on each other. */
  static void checkReceive(Object buffer, long offset, long count, Layout layout, Datatype type) {
    check(buffer, offset, count, layout, type);
    if (!layout.dense() && layout.overlaps()) {
      throw new MPIException(
          MPIException.ERR_TYPE, "datatype " + type + " has elements that lie on each other");
    }
  }

  /** The same for a collective, which counts elements of a buffer in ints. */
  static void checkCollective(
      Object buffer, long offset, long count, Layout layout, Datatype type, boolean receive) {
    if (receive) {
      checkReceive(buffer, offset, count, layout, type);
    } else {
      check(buffer, offset, count, layout, type);
    }
    if (count > 0) {
      long end = offset + layout.end() + Math.max(0, (count - 1) * layout.extent());
      toInt(end, "elements of the buffer of a collective:");
      toInt(count * layout.size(), "elements of a collective:");
    }
  }
}

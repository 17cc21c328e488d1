// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.datatype.Layout;
import java.lang.foreign.MemorySegment;
import java.nio.Buffer;

/** Checks of what a program hands over as a buffer. */
final class Buffers {
  private Buffers() {}

  /** The array or segment behind a buffer; a ByteBuffer counts from its index 0. */
  static Object normal(Object buffer) {
    return buffer instanceof Buffer b ? MemorySegment.ofBuffer(b.duplicate().clear()) : buffer;
  }

  /** Throws unless all elements of the message are in the buffer. */
  static void check(Object buffer, int offset, int count, Layout layout, Datatype type) {
    if (count < 0) {
      throw new MPIException(MPIException.ERR_COUNT, "count " + count + ": 0 or more is allowed");
    }
    if (count == 0) {
      return;
    }
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
  }

  /** The same for a receive, whose elements must not lie on each other. */
  static void checkReceive(Object buffer, int offset, int count, Layout layout, Datatype type) {
    check(buffer, offset, count, layout, type);
    if (!layout.dense() && layout.overlaps()) {
      throw new MPIException(
          MPIException.ERR_TYPE, "datatype " + type + " has elements that lie on each other");
    }
  }
}

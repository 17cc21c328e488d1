// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The layout of a ring, one writer and one reader, in native byte order.
 *
 * <pre>
 *    0  | magic:8                                      written once
 *   64  | head:8 | credit returned:8                   written by the reader
 *  128  | wants space:4                                written by the writer
 *  256  | frames ...                                   capacity bytes
 * </pre>
 *
 * <p>Head and tail count bytes since the start. The tail is known to the writer alone: the reader
 * sees the length word of the frame at its head become other than 0. A negative length is a gap up
 * to the end of the ring.
 */
final class RingLayout {
  static final long MAGIC = 0x54616c2d6d706a32L; // "Tal-mpj2"
  static final long HEAD = 64;
  static final long CREDIT = 72;
  static final long WANTS_SPACE = 128;
  static final long FRAMES = 256;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private RingLayout() {}

  static long bytes(int capacity) {
    return FRAMES + capacity;
  }

  static int capacity(MemorySegment ring) {
    return (int) (ring.byteSize() - FRAMES);
  }

  static void check(MemorySegment ring, int from, int to) {
    if ((long) LONG.get(ring, 0L) != MAGIC) {
      throw new IllegalStateException(
          "the ring of rank " + from + " to rank " + to + " is of another version of Talaria");
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.RingLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Describes the file that two nodes share, in native byte order. The node that has accepted the
 * connection creates it.
 *
 * <pre>
 *   0    magic 8 | version 4 | most bytes of a data ring 4 | of a control ring 4
 *   128  first rings: data, creator to the other | control | data, the other to the creator | control
 *        second rings of those priorities that may grow, in the same order; third; ...      see RingLayout
 * </pre>
 *
 * <p>The file has its full size from the start, but memory is reserved only for the first rings. If
 * a ring is too small, its writer creates the next one, four times as large, and its end word leads
 * the other side there.
 */
public final class ShmLayout {
  /** "TalMsg", and 0. */
  public static final long MAGIC = 0x5461_6c4d_7367_0000L;

  /** The version of this layout and of {@link io.talaria.messaging.ring.RingLayout}. */
  public static final int VERSION = 3;

  static final int RINGS = 128;

  private static final int[] FIRST = {32 << 10, 16 << 10};
  private static final int GROWTH_SHIFT = 2;

  private ShmLayout() {}

  /** The capacity in bytes of the ring of a priority and generation; 0 if there is none. */
  static int capacity(int priority, int generation, int most) {
    long now = Math.min(FIRST[priority], most);
    for (int i = 0; i < generation; i++) {
      if (now >= most) {
        return 0;
      }
      now = Math.min(most, now << GROWTH_SHIFT);
    }
    return (int) now;
  }

  /** The size of the file, in bytes. */
  public static int bytes(int dataRingBytes, int controlRingBytes) {
    return RINGS + (int) end(new int[] {dataRingBytes, controlRingBytes}, Integer.MAX_VALUE);
  }

  /** The number of bytes that are used from the start. */
  public static int firstBytes(int dataRingBytes, int controlRingBytes) {
    return RINGS + (int) end(new int[] {dataRingBytes, controlRingBytes}, 1);
  }

  private static long end(int[] most, int generations) {
    long bytes = 0;
    for (int generation = 0; generation < generations; generation++) {
      long more = 2L * (ringBytes(0, generation, most) + ringBytes(1, generation, most));
      if (more == 0) {
        return bytes;
      }
      bytes += more;
    }
    return bytes;
  }

  private static int ringBytes(int priority, int generation, int[] most) {
    int capacity = capacity(priority, generation, most[priority]);
    return capacity == 0 ? 0 : RingLayout.bytes(capacity);
  }

  /** Writes the header of a new file. Must precede telling any other process of the file. */
  public static void write(MemorySegment file, int dataRingBytes, int controlRingBytes) {
    file.set(ValueLayout.JAVA_LONG, 0, MAGIC);
    file.set(ValueLayout.JAVA_INT, 8, VERSION);
    file.set(ValueLayout.JAVA_INT, 12, dataRingBytes);
    file.set(ValueLayout.JAVA_INT, 16, controlRingBytes);
  }

  static boolean fits(MemorySegment file, int dataRingBytes, int controlRingBytes) {
    return file.get(ValueLayout.JAVA_LONG, 0) == MAGIC
        && file.get(ValueLayout.JAVA_INT, 8) == VERSION
        && file.get(ValueLayout.JAVA_INT, 12) == dataRingBytes
        && file.get(ValueLayout.JAVA_INT, 16) == controlRingBytes;
  }

  /** The memory of a ring. */
  static MemorySegment ring(
      MemorySegment file, boolean ofCreator, int priority, int generation, int[] most) {
    long at = RINGS + end(most, generation);
    if (!ofCreator) {
      at +=
          ringBytes(RingPair.DATA, generation, most)
              + (long) ringBytes(RingPair.CONTROL, generation, most);
    }
    if (priority == RingPair.CONTROL) {
      at += ringBytes(RingPair.DATA, generation, most);
    }
    return file.asSlice(at, ringBytes(priority, generation, most));
  }
}

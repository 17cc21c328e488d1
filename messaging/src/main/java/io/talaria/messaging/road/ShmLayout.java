// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.road;

import io.talaria.messaging.ring.RingLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The file that two nodes share, in native byte order. The creator is who accepted.
 *
 * <pre>
 *   0    magic 8 | version 4 | bytes of a bulk ring 4 | bytes of an express ring 4
 *   128  ring bulk, creator to the other | ring express
 *        ring bulk, the other to the creator | ring express            see RingLayout
 * </pre>
 */
public final class ShmLayout {
  /** "TalMsg", and 0. */
  public static final long MAGIC = 0x5461_6c4d_7367_0000L;

  /** Of this layout and of the rings'. */
  public static final int VERSION = 1;

  static final int RINGS = 128;

  private ShmLayout() {}

  /** Bytes of the file. */
  public static int bytes(int bulk, int express) {
    return RINGS + 2 * (RingLayout.bytes(bulk) + RingLayout.bytes(express));
  }

  /** Writes the head of a new file, before anybody else is told of it. */
  public static void write(MemorySegment file, int bulk, int express) {
    file.set(ValueLayout.JAVA_LONG, 0, MAGIC);
    file.set(ValueLayout.JAVA_INT, 8, VERSION);
    file.set(ValueLayout.JAVA_INT, 12, bulk);
    file.set(ValueLayout.JAVA_INT, 16, express);
  }

  static boolean fits(MemorySegment file, int bulk, int express) {
    return file.get(ValueLayout.JAVA_LONG, 0) == MAGIC
        && file.get(ValueLayout.JAVA_INT, 8) == VERSION
        && file.get(ValueLayout.JAVA_INT, 12) == bulk
        && file.get(ValueLayout.JAVA_INT, 16) == express;
  }

  /** The memory of a ring. */
  static MemorySegment ring(MemorySegment file, boolean ofCreator, int lane, int[] capacity) {
    long at = RINGS;
    if (!ofCreator) {
      at += RingLayout.bytes(capacity[0]) + RingLayout.bytes(capacity[1]);
    }
    if (lane == Lane.EXPRESS) {
      at += RingLayout.bytes(capacity[0]);
    }
    return file.asSlice(at, RingLayout.bytes(capacity[lane]));
  }
}

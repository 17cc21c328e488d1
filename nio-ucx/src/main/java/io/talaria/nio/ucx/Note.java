// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** A small message: see {@link UcxMessages}. */
final class Note {
  private static final ValueLayout.OfLong FIELD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  final MemorySegment memory = Arena.ofAuto().allocate(UcxMessages.NOTE_BYTES, 8);

  /** The send under way. */
  long request;

  void set(int type, long value) {
    memory.set(FIELD, 0, type);
    memory.set(FIELD, Long.BYTES, value);
  }

  /** -1 if it is no type at all. */
  int type() {
    long type = memory.get(FIELD, 0);
    return type == (int) type ? (int) type : -1;
  }

  long value() {
    return memory.get(FIELD, Long.BYTES);
  }
}

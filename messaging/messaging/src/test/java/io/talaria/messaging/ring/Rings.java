// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Rings for tests, at any position. */
final class Rings {
  private Rings() {}

  /** Memory of a ring whose first record stands at a position. */
  static MemorySegment at(int capacity, long position) {
    MemorySegment memory = Arena.ofAuto().allocate(RingLayout.bytes(capacity), 128);
    RingLayout.LONG.set(memory, (long) RingLayout.HEAD, RingLayout.word(position));
    return memory;
  }
}

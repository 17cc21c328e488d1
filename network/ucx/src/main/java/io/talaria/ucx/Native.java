// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.CStruct;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** Checks of what programs hand in, and zeroed structures. Usable by any thread. */
final class Native {
  /** Up to here a transfer may be a critical call; a longer one would hold up safepoints. */
  static final long CRITICAL_BYTES = 64 << 10;

  private Native() {}

  /** The address of memory that UCX will read. */
  static long readable(MemorySegment buffer, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, buffer.byteSize());
    if (!buffer.isNative() || !buffer.scope().isAlive()) {
      throw unusable(buffer);
    }
    return buffer.address() + offset;
  }

  /** The address of memory that UCX will write. */
  static long writable(MemorySegment buffer, long offset, long length) {
    long address = readable(buffer, offset, length);
    if (buffer.isReadOnly()) {
      throw new IllegalArgumentException("the buffer is read-only: " + buffer);
    }
    return address;
  }

  private static RuntimeException unusable(MemorySegment buffer) {
    return buffer.isNative()
        ? new IllegalStateException("the arena of the buffer is closed: " + buffer)
        : new IllegalArgumentException(
            "the buffer is on the heap; UCX needs one of an Arena or a direct ByteBuffer");
  }

  /** A structure of zeros. */
  static MemorySegment zeroed(Arena arena, CStruct struct) {
    return arena.allocate(struct.layout());
  }
}

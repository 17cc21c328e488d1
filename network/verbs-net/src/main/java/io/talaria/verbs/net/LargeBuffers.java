// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.Access;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.ProtectionDomain;
import java.util.ArrayDeque;

/**
 * Registered memory that large messages are read into, in powers of two, kept for the next one. Not
 * more than a number of bytes in all.
 */
final class LargeBuffers {
  private static final int MIN_SHIFT = 16;

  private final ProtectionDomain domain;
  private final long maxBytes;

  /** By the logarithm of their size. Guarded by this, like all below. */
  private final ArrayDeque<?>[] free = new ArrayDeque<?>[64];

  private long bytes;
  private boolean closed;

  LargeBuffers(ProtectionDomain domain, long maxBytes) {
    this.domain = domain;
    this.maxBytes = maxBytes;
  }

  @SuppressWarnings("unchecked") // of regions only
  private ArrayDeque<MemoryRegion> of(int shift) {
    if (free[shift] == null) {
      free[shift] = new ArrayDeque<MemoryRegion>();
    }
    return (ArrayDeque<MemoryRegion>) free[shift];
  }

  private static int shift(long length) {
    return Math.max(MIN_SHIFT, 64 - Long.numberOfLeadingZeros(length - 1));
  }

  /** The size of the buffer that a message of a length takes. */
  static long sizeFor(long length) {
    return 1L << shift(length);
  }

  /** A region of at least so many bytes; null: not now. */
  synchronized MemoryRegion take(long length) {
    int shift = shift(length);
    MemoryRegion region = of(shift).poll();
    if (region != null) {
      return region;
    }
    long size = 1L << shift;
    for (int other = 63; other >= 0 && bytes + size > maxBytes; other--) {
      while (bytes + size > maxBytes && !of(other).isEmpty()) {
        drop(of(other).poll());
      }
    }
    if (bytes + size > maxBytes) {
      return null;
    }
    region = domain.allocate(size, Access.LOCAL_WRITE);
    bytes += size;
    return region;
  }

  private void drop(MemoryRegion region) {
    bytes -= region.byteSize();
    // No request names it, so its memory need not wait for queue pairs that stay open.
    region.closeIdle();
  }

  synchronized void give(MemoryRegion region) {
    if (closed) {
      drop(region);
    } else {
      of(shift(region.byteSize())).add(region);
    }
  }

  /** Closes what is free; what is not is closed when it is given back. */
  synchronized void close() {
    closed = true;
    for (int shift = 0; shift < free.length; shift++) {
      for (MemoryRegion region = of(shift).poll(); region != null; region = of(shift).poll()) {
        drop(region);
      }
    }
  }
}

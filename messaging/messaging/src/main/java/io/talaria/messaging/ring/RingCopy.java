// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import io.talaria.ffi.BlockCopy;
import java.lang.foreign.MemorySegment;

/**
 * Copies bytes into a ring: long blocks by {@link BlockCopy}, which is several times as fast, if
 * {@code talaria-ffi} is there and native access was allowed; else by the JVM. Any thread.
 */
public final class RingCopy {
  private static final boolean NATIVE = isNativeAllowed();

  private RingCopy() {}

  /** Without a look at whether it is allowed, the JVM would print a warning. */
  private static boolean isNativeAllowed() {
    try {
      return BlockCopy.class.getModule().isNativeAccessEnabled();
    } catch (NoClassDefFoundError e) {
      return false;
    }
  }

  /** Copies {@code bytes} bytes. */
  public static void copy(
      MemorySegment from, long fromOffset, MemorySegment ring, long ringOffset, long bytes) {
    // A mapped file of the program may be truncated, which only the JVM's own copy survives.
    if (bytes >= BlockCopy.MIN_BYTES && NATIVE && !from.isMapped()) {
      BlockCopy.copy(from, fromOffset, ring, ringOffset, bytes);
    } else {
      MemorySegment.copy(from, fromOffset, ring, ringOffset, bytes);
    }
  }
}

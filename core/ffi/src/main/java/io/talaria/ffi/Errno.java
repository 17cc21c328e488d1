// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;

/** The C library's error number, as captured with a call. */
public final class Errno {
  /** Room for what a call captures; one segment per thread may be used again and again. */
  public static final StructLayout LAYOUT = Linker.Option.captureStateLayout();

  static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");

  private static final long OFFSET =
      LAYOUT.byteOffset(StructLayout.PathElement.groupElement("errno"));

  private Errno() {}

  /**
   * Reads the number that the last call captured.
   *
   * @param captured a segment of {@link #LAYOUT}
   * @return a positive number
   */
  public static int of(MemorySegment captured) {
    return captured.get(ValueLayout.JAVA_INT, OFFSET);
  }

  /**
   * Folds the number into the result of a call that answers -1 on failure.
   *
   * @param result what the call returned
   * @param captured a segment of {@link #LAYOUT}
   * @return the result, or the negated error number
   */
  public static int folded(int result, MemorySegment captured) {
    return result < 0 ? -of(captured) : result;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.util.function.Supplier;

/**
 * Runs native code with the decimal point of the C locale, whatever the user's language writes: a
 * library that reads «0.5» from its configuration is confused by a locale that expects «0,5».
 *
 * <p>The locale is changed for the calling thread alone. The action must not block on Java locks,
 * so that a virtual thread stays on its carrier.
 */
public final class NumberLocale {
  /** {@code LC_NUMERIC_MASK} of glibc and musl. */
  private static final int NUMERIC_MASK = 1 << 1;

  private static final NativeLibrary C = NativeLibrary.libc();
  private static final MethodHandle NEWLOCALE =
      C.plain("newlocale", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle DUPLOCALE =
      C.plain("duplocale", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle USELOCALE =
      C.plain("uselocale", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle FREELOCALE =
      C.plain("freelocale", FunctionDescriptor.ofVoid(JAVA_LONG));

  private NumberLocale() {}

  /**
   * Runs an action.
   *
   * @param action what to run
   * @param <T> what it gives
   * @return what it gave
   */
  public static <T> T call(Supplier<T> action) {
    try (Arena arena = Arena.ofConfined()) {
      long before = (long) USELOCALE.invokeExact(0L);
      long copy = (long) DUPLOCALE.invokeExact(before);
      long numeric =
          copy == 0
              ? 0
              : (long) NEWLOCALE.invokeExact(NUMERIC_MASK, arena.allocateFrom("C").address(), copy);
      if (numeric == 0) {
        if (copy != 0) {
          FREELOCALE.invokeExact(copy); // newlocale leaves it alone if it fails
        }
        throw new OutOfMemoryError("newlocale");
      }
      long replaced = (long) USELOCALE.invokeExact(numeric);
      try {
        return action.get();
      } finally {
        long ours = (long) USELOCALE.invokeExact(replaced);
        FREELOCALE.invokeExact(ours);
      }
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }
}

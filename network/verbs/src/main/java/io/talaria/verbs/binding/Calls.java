// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Errno;
import io.talaria.ffi.Libc;
import io.talaria.ffi.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls that create, ask, change, wait or destroy: not for a data path. The libraries tell failure
 * in four ways (an error number returned, -1 with errno, NULL with errno, a negated error number);
 * here they become one: 0 or more, or a negated error number.
 *
 * <p>Every argument is passed as 64 bits. The calling conventions of 64-bit machines give each of
 * the first six arguments a register, of which C reads as much as the parameter is wide.
 */
final class Calls {
  private static final int EIO = 5;

  private static final MethodHandle INT_0 =
      NativeLibrary.pointerCapturingErrno(FunctionDescriptor.of(JAVA_INT));
  private static final MethodHandle INT_1 =
      NativeLibrary.pointerCapturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  private static final MethodHandle INT_2 =
      NativeLibrary.pointerCapturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle INT_3 =
      NativeLibrary.pointerCapturingErrno(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle INT_4 =
      NativeLibrary.pointerCapturingErrno(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle INT_5 =
      NativeLibrary.pointerCapturingErrno(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle INT_6 =
      NativeLibrary.pointerCapturingErrno(
          FunctionDescriptor.of(
              JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle LONG_0 =
      NativeLibrary.pointerCapturingErrno(FunctionDescriptor.of(JAVA_LONG));
  private static final MethodHandle LONG_1 =
      NativeLibrary.pointerCapturingErrno(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle LONG_2 =
      NativeLibrary.pointerCapturingErrno(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle LONG_3 =
      NativeLibrary.pointerCapturingErrno(
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle LONG_4 =
      NativeLibrary.pointerCapturingErrno(
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle LONG_5 =
      NativeLibrary.pointerCapturingErrno(
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle LONG_6 =
      NativeLibrary.pointerCapturingErrno(
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  private Calls() {}

  /** A call that answers with a status: 0, or a negated error number. */
  static int status(MemorySegment f, long... a) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      int result = integer(f, errno, a);
      if (result == -1) {
        return failure(errno);
      }
      return result > 0 ? -result : result;
    }
  }

  /** The same without allocating; {@code errno} is of {@link Errno#LAYOUT} and the caller's. */
  static int status(MemorySegment f, MemorySegment errno, long a, long b, long c) {
    int result;
    try {
      result = (int) INT_3.invokeExact(f, errno, a, b, c);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
    return result == -1 ? failure(errno) : result > 0 ? -result : result;
  }

  /** A call without result, without allocating. */
  static void nothing(MemorySegment f, MemorySegment errno, long a, long b) {
    try {
      long ignored = (long) LONG_2.invokeExact(f, errno, a, b);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** A call that answers with a number: 0 or more, or a negated error number. */
  static int count(MemorySegment f, long... a) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      int result = integer(f, errno, a);
      return result == -1 ? failure(errno) : result;
    }
  }

  /** A call that answers with a pointer: an address, or a negated error number. */
  static long pointer(MemorySegment f, long... a) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      long result = word(f, errno, a);
      return result == 0 ? failure(errno) : result;
    }
  }

  /** A call that answers with 64 bits that mean what they mean. */
  static long word(MemorySegment f, long... a) {
    try (Arena arena = Arena.ofConfined()) {
      return word(f, arena.allocate(Errno.LAYOUT), a);
    }
  }

  private static int failure(MemorySegment errno) {
    int number = Errno.of(errno);
    return number == 0 ? -EIO : -number;
  }

  private static int integer(MemorySegment f, MemorySegment errno, long[] a) {
    try {
      return switch (a.length) {
        case 0 -> (int) INT_0.invokeExact(f, errno);
        case 1 -> (int) INT_1.invokeExact(f, errno, a[0]);
        case 2 -> (int) INT_2.invokeExact(f, errno, a[0], a[1]);
        case 3 -> (int) INT_3.invokeExact(f, errno, a[0], a[1], a[2]);
        case 4 -> (int) INT_4.invokeExact(f, errno, a[0], a[1], a[2], a[3]);
        case 5 -> (int) INT_5.invokeExact(f, errno, a[0], a[1], a[2], a[3], a[4]);
        case 6 -> (int) INT_6.invokeExact(f, errno, a[0], a[1], a[2], a[3], a[4], a[5]);
        default -> throw new IllegalArgumentException(a.length + " arguments");
      };
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  private static long word(MemorySegment f, MemorySegment errno, long[] a) {
    try {
      return switch (a.length) {
        case 0 -> (long) LONG_0.invokeExact(f, errno);
        case 1 -> (long) LONG_1.invokeExact(f, errno, a[0]);
        case 2 -> (long) LONG_2.invokeExact(f, errno, a[0], a[1]);
        case 3 -> (long) LONG_3.invokeExact(f, errno, a[0], a[1], a[2]);
        case 4 -> (long) LONG_4.invokeExact(f, errno, a[0], a[1], a[2], a[3]);
        case 5 -> (long) LONG_5.invokeExact(f, errno, a[0], a[1], a[2], a[3], a[4]);
        case 6 -> (long) LONG_6.invokeExact(f, errno, a[0], a[1], a[2], a[3], a[4], a[5]);
        default -> throw new IllegalArgumentException(a.length + " arguments");
      };
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }
}

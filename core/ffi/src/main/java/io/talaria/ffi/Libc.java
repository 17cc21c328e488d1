// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * The few functions of the C library that bindings want. Usable by any thread; nothing here is for
 * a data path.
 */
public final class Libc {
  private static final short POLLIN = 1;
  private static final int EINTR = 4;
  private static final long NS_PER_MS = 1_000_000;

  private static final CStruct POLLFD =
      CStruct.named("struct pollfd").int32("fd").int16("events").int16("revents").build();
  private static final NativeLibrary C = NativeLibrary.libc();
  private static final MethodHandle SETENV =
      C.plain("setenv", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private static final MethodHandle GETENV =
      C.plain("getenv", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle POLL =
      C.capturingErrno("poll", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private static final MethodHandle FREE = C.plain("free", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle OPEN_MEMSTREAM =
      C.plain("open_memstream", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle FCLOSE =
      C.plain("fclose", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

  private static final MethodHandle STRERROR =
      C.plain("strerror", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
  private static final MethodHandle FCNTL = variadicFcntl();
  private static final MethodHandle CLOSE =
      C.plain("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle GETRLIMIT =
      C.plain("getrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final int RLIMIT_MEMLOCK = 8;

  private Libc() {}

  private static MethodHandle variadicFcntl() {
    return C.variadicCapturingErrno(
        "fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG), 2);
  }

  /** What {@link #print} hands a C stream to. */
  @FunctionalInterface
  public interface Printer {
    /**
     * Prints.
     *
     * @param stream a {@code FILE *}
     */
    void printTo(long stream);
  }

  /**
   * Sets an environment variable of the process, which native libraries then see. The JVM's own
   * copy, and so its child processes, do not.
   *
   * @param name the variable
   * @param value its value
   * @param overwrite whether to replace a value that is there
   */
  public static void setenv(String name, String value, boolean overwrite) {
    try (Arena arena = Arena.ofConfined()) {
      int result =
          (int)
              SETENV.invokeExact(
                  arena.allocateFrom(name).address(),
                  arena.allocateFrom(value).address(),
                  overwrite ? 1 : 0);
      if (result != 0) {
        throw new IllegalArgumentException("setenv refuses " + name + "=" + value);
      }
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /**
   * Reads an environment variable of the process, as native libraries see it.
   *
   * @param name the variable
   * @return its value, or nothing
   */
  public static Optional<String> getenv(String name) {
    try (Arena arena = Arena.ofConfined()) {
      long value = (long) GETENV.invokeExact(arena.allocateFrom(name).address());
      return value == 0 ? Optional.empty() : Optional.of(string(value));
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /**
   * Waits until a descriptor is readable. Blocks the thread; signals do not end the wait.
   *
   * @param descriptor a file descriptor
   * @param timeoutMs how long to wait; negative: without limit
   * @return whether it is readable or in error; false: time is over
   */
  public static boolean awaitReadable(int descriptor, int timeoutMs) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      MemorySegment pollfd = arena.allocate(POLLFD.layout());
      pollfd.set(JAVA_INT, POLLFD.offset("fd"), descriptor);
      pollfd.set(ValueLayout.JAVA_SHORT, POLLFD.offset("events"), POLLIN);
      long end = timeoutMs > 0 ? System.nanoTime() + timeoutMs * NS_PER_MS : 0;
      int left = timeoutMs;
      int count;
      while ((count =
              Errno.folded((int) POLL.invokeExact(errno, pollfd.address(), 1L, left), errno))
          == -EINTR) {
        left = timeoutMs > 0 ? millisUntil(end) : timeoutMs;
      }
      if (count < 0) {
        throw new IllegalStateException("poll of " + descriptor + " failed, errno " + -count);
      }
      return count > 0;
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /** Rounded up, so that the wait is not too short; not negative, which means for ever. */
  private static int millisUntil(long end) {
    return (int) Math.max(0, (end - System.nanoTime() + NS_PER_MS - 1) / NS_PER_MS);
  }

  /**
   * What an error number means, in the C library's words.
   *
   * @param errno a positive number
   * @return words such as {@code Cannot allocate memory}
   */
  public static String errorText(int errno) {
    try {
      return string((long) STRERROR.invokeExact(errno));
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /**
   * Makes calls on a descriptor answer at once instead of waiting ({@code O_NONBLOCK}).
   *
   * @param descriptor a file descriptor
   */
  public static void nonBlocking(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      int flags = Errno.folded((int) FCNTL.invokeExact(errno, descriptor, F_GETFL, 0L), errno);
      int status =
          flags < 0
              ? flags
              : Errno.folded(
                  (int) FCNTL.invokeExact(errno, descriptor, F_SETFL, (long) flags | O_NONBLOCK),
                  errno);
      if (status < 0) {
        throw new IllegalStateException("fcntl of " + descriptor + ": " + errorText(-status));
      }
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /**
   * Closes a descriptor that the caller owns.
   *
   * @param descriptor a file descriptor
   */
  public static void close(int descriptor) {
    try {
      int ignored = (int) CLOSE.invokeExact(descriptor);
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /**
   * How much memory the process may lock ({@code RLIMIT_MEMLOCK}, as {@code ulimit -l} shows it).
   *
   * @return a number of bytes; {@link Long#MAX_VALUE} if there is no limit
   */
  public static long memlockLimit() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment limits = arena.allocate(JAVA_LONG, 2);
      int result = (int) GETRLIMIT.invokeExact(RLIMIT_MEMLOCK, limits.address());
      long soft = limits.getAtIndex(JAVA_LONG, 0);
      return result != 0 || soft < 0 ? Long.MAX_VALUE : soft;
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /**
   * Collects what a C function prints to a stream.
   *
   * @param printer what prints
   * @return the text
   */
  public static String print(Printer printer) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocate(JAVA_LONG);
      MemorySegment size = arena.allocate(JAVA_LONG);
      long stream = (long) OPEN_MEMSTREAM.invokeExact(text.address(), size.address());
      if (stream == 0) {
        throw new OutOfMemoryError("open_memstream");
      }
      try {
        try {
          printer.printTo(stream);
        } finally {
          int ignored = (int) FCLOSE.invokeExact(stream); // which leaves the text
        }
        return string(text.get(JAVA_LONG, 0));
      } finally {
        FREE.invokeExact(text.get(JAVA_LONG, 0));
      }
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /**
   * Reads a string of C.
   *
   * @param address where it is; it must be there and end with a zero
   * @return its text, taken for UTF-8
   */
  @SuppressWarnings("restricted")
  public static String string(long address) {
    return MemorySegment.ofAddress(address).reinterpret(Long.MAX_VALUE).getString(0);
  }

  /**
   * What a method that calls a handle makes of a throwable that the handle's type allows.
   *
   * @param thrown an error or an exception that is not checked
   * @return never
   */
  public static RuntimeException unchecked(Throwable thrown) {
    if (thrown instanceof RuntimeException e) {
      throw e;
    }
    if (thrown instanceof Error e) {
      throw e;
    }
    throw new AssertionError(thrown);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A descriptor that is readable from {@link #signal} to {@link #clear} ({@code eventfd}), to wake a
 * thread that sleeps in {@link Epoll#await}. Any thread signals, one clears; allocates nothing once
 * it is made.
 */
public final class EventDescriptor implements AutoCloseable {
  private static final int CLOEXEC = 0x80000;
  private static final int NONBLOCK = 0x800;
  private static final NativeLibrary C = NativeLibrary.libc();
  private static final MethodHandle EVENTFD =
      C.capturingErrno("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
  private static final FunctionDescriptor TRANSFER =
      FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle WRITE = C.plain("write", TRANSFER);
  private static final MethodHandle READ = C.plain("read", TRANSFER);
  private static final long BYTES = 8;

  /** The number one, and room for what is read. */
  private final MemorySegment words;

  private final int descriptor;

  /** Makes one that is not readable. */
  public EventDescriptor() {
    Arena arena = Arena.ofAuto();
    words = arena.allocate(JAVA_LONG, 2);
    words.set(JAVA_LONG, 0, 1);
    MemorySegment errno = arena.allocate(Errno.LAYOUT);
    try {
      descriptor = Errno.folded((int) EVENTFD.invokeExact(errno, 0, CLOEXEC | NONBLOCK), errno);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
    if (descriptor < 0) {
      throw new IllegalStateException("eventfd failed: " + Libc.errorText(-descriptor));
    }
  }

  /**
   * The descriptor.
   *
   * @return a file descriptor that does not block
   */
  public int descriptor() {
    return descriptor;
  }

  /** Makes it readable. */
  public void signal() {
    try {
      // It fails only when the count is at its end, and then it is readable.
      long ignored = (long) WRITE.invokeExact(descriptor, words.address(), BYTES);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** Makes it not readable. */
  public void clear() {
    try {
      long ignored = (long) READ.invokeExact(descriptor, words.address() + BYTES, BYTES);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** Closes the descriptor. No thread may signal any more. */
  @Override
  public void close() {
    Libc.close(descriptor);
  }
}

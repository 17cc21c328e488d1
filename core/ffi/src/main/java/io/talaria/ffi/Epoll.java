// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A descriptor that is readable when one of a set of others is ({@code epoll}). Usable by any
 * thread, also while another one sleeps on it; allocates nothing once it is made. A caller that
 * takes the {@link #descriptor} closes it.
 */
public final class Epoll implements AutoCloseable {
  private static final int CLOEXEC = 0x80000;
  private static final int ADD = 1;
  private static final int DELETE = 2;
  private static final int POLLIN = 1;

  /** The events are the first 4 bytes of {@code struct epoll_event}; its size depends. */
  private static final long EVENT_BYTES = 16;

  private static final NativeLibrary C = NativeLibrary.libc();
  private static final MethodHandle CREATE =
      C.capturingErrno("epoll_create1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle CHANGE =
      C.capturingErrno(
          "epoll_ctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));

  private static final MethodHandle WAIT =
      C.capturingErrno(
          "epoll_wait", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));
  private static final int MAX_EVENTS = 8;
  private static final int EINTR = 4;

  private final MemorySegment errno;
  private final MemorySegment event;
  private final MemorySegment waitErrno;
  private final MemorySegment events;
  private final int descriptor;

  /** Makes an empty set. */
  public Epoll() {
    Arena arena = Arena.ofAuto();
    errno = arena.allocate(Errno.LAYOUT);
    event = arena.allocate(EVENT_BYTES, 8);
    event.set(JAVA_INT, 0, POLLIN);
    waitErrno = arena.allocate(Errno.LAYOUT);
    events = arena.allocate(EVENT_BYTES * MAX_EVENTS, 8);
    try {
      descriptor = Errno.folded((int) CREATE.invokeExact(errno, CLOEXEC), errno);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
    if (descriptor < 0) {
      throw new IllegalStateException("epoll_create1 failed, errno " + -descriptor);
    }
  }

  /**
   * The descriptor of the set.
   *
   * @return a file descriptor
   */
  public int descriptor() {
    return descriptor;
  }

  /**
   * Puts a descriptor in.
   *
   * @param other a file descriptor
   */
  public void add(int other) {
    change(ADD, other);
  }

  /**
   * Takes a descriptor out.
   *
   * @param other a file descriptor that is in it
   */
  public void remove(int other) {
    change(DELETE, other);
  }

  /**
   * Waits until one of the set is readable. Blocks the thread; one thread at a time.
   *
   * @param timeoutMs how long to wait; negative: without limit
   * @return whether one is; false: time is over, or a signal came
   */
  public boolean await(int timeoutMs) {
    int count;
    try {
      count =
          Errno.folded(
              (int)
                  WAIT.invokeExact(waitErrno, descriptor, events.address(), MAX_EVENTS, timeoutMs),
              waitErrno);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
    if (count < 0 && count != -EINTR) {
      throw new IllegalStateException("epoll_wait failed: " + Libc.errorText(-count));
    }
    return count > 0;
  }

  /**
   * Closes the descriptor. It must not have been taken or closed before, and no thread may sleep on
   * it.
   */
  @Override
  public void close() {
    Libc.close(descriptor);
  }

  private synchronized void change(int operation, int other) {
    int status;
    try {
      status =
          Errno.folded(
              (int) CHANGE.invokeExact(errno, descriptor, operation, other, event.address()),
              errno);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
    if (status < 0) {
      throw new IllegalStateException("epoll_ctl of " + other + " failed, errno " + -status);
    }
  }
}

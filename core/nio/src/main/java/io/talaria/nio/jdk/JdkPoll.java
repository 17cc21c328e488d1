// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jdk;

import java.io.FileDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * Whether a descriptor is readable now, by the JDK's own call to {@code poll}: Java 17 has no
 * public way to native code. Needs {@code sun.nio.ch} to be open to us, as {@link
 * JdkNio#channelOver} does. Any thread; does not wait, and allocates nothing.
 */
public final class JdkPoll {
  private static final int READABLE = 1;

  /** Not ours to close. */
  private final FileDescriptor descriptor;

  /** Loaded by those who need it only. */
  private static final class Calls {
    static final MethodHandle POLL;
    static final MethodHandle DESCRIPTOR;

    static {
      try {
        POLL = JdkEpoll.opened("Net", "poll", FileDescriptor.class, int.class, long.class);
        DESCRIPTOR = JdkEpoll.opened("IOUtil", "newFD", int.class);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("another JDK: " + e, e);
      }
    }

    private Calls() {}
  }

  /**
   * Names the descriptor.
   *
   * @param number of an open file descriptor that outlives this, and stays its owner's
   * @throws IllegalStateException if the package is not open
   */
  public JdkPoll(int number) {
    try {
      descriptor = (FileDescriptor) Calls.DESCRIPTOR.invokeExact(number);
    } catch (Throwable t) {
      throw new IllegalStateException("no descriptor: " + t, t);
    }
  }

  /**
   * Looks once.
   *
   * @return whether a read would not wait: bytes, the end or a failure
   * @throws IllegalStateException if the kernel refuses
   */
  public boolean readable() {
    try {
      return (int) Calls.POLL.invokeExact(descriptor, READABLE, 0L) > 0;
    } catch (Throwable t) {
      throw new IllegalStateException("poll: " + t, t);
    }
  }
}

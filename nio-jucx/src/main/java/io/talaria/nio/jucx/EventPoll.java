// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import java.io.FileDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;

/**
 * Whether a descriptor is readable now, by the JDK's own call to {@code poll}: Java 17 has no
 * public way to native code. Needs {@code sun.nio.ch} to be open to us, which the fabric wants
 * anyway. Any thread; does not wait, and allocates nothing.
 */
final class EventPoll {
  private static final int READABLE = 1;

  /** Not ours to close. */
  private final FileDescriptor descriptor;

  /** Loaded by those who need it only. */
  private static final class Calls {
    static final MethodHandle POLL;
    static final MethodHandle DESCRIPTOR;

    static {
      try {
        POLL =
            handle(
                Class.forName("sun.nio.ch.Net")
                    .getDeclaredMethod("poll", FileDescriptor.class, int.class, long.class));
        DESCRIPTOR =
            handle(Class.forName("sun.nio.ch.IOUtil").getDeclaredMethod("newFD", int.class));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("another JDK: " + e, e);
      }
    }

    private Calls() {}

    private static MethodHandle handle(Method method) throws IllegalAccessException {
      if (!method.trySetAccessible()) {
        throw new IllegalAccessException("needs --add-opens java.base/sun.nio.ch=ALL-UNNAMED");
      }
      return MethodHandles.lookup().unreflect(method);
    }
  }

  /**
   * @param number of a descriptor that outlives this
   */
  EventPoll(int number) {
    try {
      descriptor = (FileDescriptor) Calls.DESCRIPTOR.invokeExact(number);
    } catch (Throwable t) {
      throw new IllegalStateException("no descriptor: " + t, t);
    }
  }

  /**
   * Looks once.
   *
   * @throws IllegalStateException if the kernel refuses
   */
  boolean readable() {
    try {
      return (int) Calls.POLL.invokeExact(descriptor, READABLE, 0L) > 0;
    } catch (Throwable t) {
      throw new IllegalStateException("poll: " + t, t);
    }
  }
}

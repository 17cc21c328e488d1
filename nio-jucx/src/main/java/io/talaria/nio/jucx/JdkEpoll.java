// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.DescriptorSet;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;

/**
 * An epoll descriptor of the JDK's making: Java 17 has no public way to native code. Needs {@code
 * sun.nio.ch} to be open to us, which the fabric wants anyway.
 */
final class JdkEpoll implements DescriptorSet {
  private static final int ADD = 1;
  private static final int DELETE = 2;
  private static final int READABLE = 1;

  private final int descriptor;

  /** Loaded by those who need it only. */
  private static final class Calls {
    static final MethodHandle CREATE;
    static final MethodHandle CONTROL;

    static {
      try {
        Class<?> epoll = Class.forName("sun.nio.ch.EPoll");
        CREATE = handle(epoll.getDeclaredMethod("create"));
        CONTROL =
            handle(epoll.getDeclaredMethod("ctl", int.class, int.class, int.class, int.class));
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

  JdkEpoll() throws IOException {
    try {
      descriptor = (int) Calls.CREATE.invokeExact();
    } catch (Throwable t) {
      throw new IOException("no epoll descriptor: " + t, t);
    }
  }

  @Override
  public int descriptor() {
    return descriptor;
  }

  @Override
  public void add(int other) {
    change(ADD, other);
  }

  @Override
  public void remove(int other) {
    change(DELETE, other);
  }

  private void change(int operation, int other) {
    int errno;
    try {
      errno = (int) Calls.CONTROL.invokeExact(descriptor, operation, other, READABLE);
    } catch (Throwable t) {
      throw new IllegalStateException("epoll_ctl: " + t, t);
    }
    if (errno != 0) {
      throw new IllegalStateException("epoll_ctl of " + other + " failed, errno " + errno);
    }
  }
}

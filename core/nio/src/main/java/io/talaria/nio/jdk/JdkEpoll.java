// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jdk;

import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;

/**
 * A descriptor that is readable when one of a set of others is, of the JDK's making: Java 17 has no
 * public way to native code. Needs {@code sun.nio.ch} to be open to us, as {@link
 * JdkNio#channelOver} does. Any thread, also while another sleeps on it. The caller that takes the
 * {@link #descriptor} closes it.
 */
public final class JdkEpoll {
  /** {@code EPOLL_CTL_ADD}. */
  private static final int ADD = 1;

  /** {@code EPOLL_CTL_DEL}. */
  private static final int DELETE = 2;

  /** {@code EPOLLIN}. */
  private static final int READABLE = 1;

  private final int descriptor;

  /** Loaded by those who need it only. */
  private static final class Calls {
    static final MethodHandle CREATE;
    static final MethodHandle CONTROL;

    static {
      try {
        CREATE = opened("EPoll", "create");
        CONTROL = opened("EPoll", "ctl", int.class, int.class, int.class, int.class);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("another JDK: " + e, e);
      }
    }

    private Calls() {}
  }

  /**
   * Makes a set that is empty.
   *
   * @throws IOException if the kernel has no more descriptors, or the package is not open
   */
  public JdkEpoll() throws IOException {
    try {
      descriptor = (int) Calls.CREATE.invokeExact();
    } catch (Throwable t) {
      throw new IOException("no epoll descriptor: " + t, t);
    }
  }

  /** A static method of a class of the package that is not public. */
  static MethodHandle opened(String holder, String name, Class<?>... parameters)
      throws ReflectiveOperationException {
    return Privileged.call(
        () -> opened(Class.forName(JdkNio.PACKAGE + "." + holder), name, parameters));
  }

  private static MethodHandle opened(Class<?> holder, String name, Class<?>... parameters)
      throws ReflectiveOperationException {
    Method method = holder.getDeclaredMethod(name, parameters);
    if (!method.trySetAccessible()) {
      throw new IllegalAccessException(
          "needs --add-opens java.base/" + JdkNio.PACKAGE + "=ALL-UNNAMED");
    }
    return MethodHandles.lookup().unreflect(method);
  }

  /** The descriptor of the set. */
  public int descriptor() {
    return descriptor;
  }

  /**
   * Puts a descriptor in.
   *
   * @param other an open file descriptor, which is not in it
   * @throws IllegalStateException if the kernel refuses
   */
  public void add(int other) {
    change(ADD, other);
  }

  /**
   * Takes a descriptor out.
   *
   * @param other a file descriptor that is in it
   * @throws IllegalStateException if it is not
   */
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

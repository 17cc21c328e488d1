// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jdk;

import io.talaria.nio.privileged.Privileged;
import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.channels.Channel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * The few internals of the JDK's NIO that Talaria needs, by method handles on public members of
 * {@code sun.nio.ch}, which must be exported: {@code --add-exports
 * java.base/sun.nio.ch=ALL-UNNAMED}, or the agent does it.
 */
public final class JdkNio {
  /** Event of {@link #park}: readable, at end of stream, or failed; as poll(2)'s POLLIN. */
  public static final int READABLE = 1;

  /** Event of {@link #park}: writable or failed; as poll(2)'s POLLOUT. */
  public static final int WRITABLE = 4;

  static final String PACKAGE = "sun.nio.ch";
  private static final SelectorProvider PROVIDER;
  private static final MethodHandle PARK;
  private static final MethodHandle IS_VIRTUAL;
  private static final MethodHandle CURRENT_NATIVE;
  private static final MethodHandle SIGNAL_NATIVE;
  private static final MethodHandle DESCRIPTOR;
  private static final MethodHandle KILL;
  private static final Class<?> SELECTABLE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      Class<?> defaults = Class.forName(PACKAGE + ".DefaultSelectorProvider");
      SELECTABLE = Class.forName(PACKAGE + ".SelChImpl");
      PROVIDER = (SelectorProvider) defaults.getMethod("get").invoke(null);
      PARK =
          lookup
              .findVirtual(
                  SELECTABLE, "park", MethodType.methodType(void.class, int.class, long.class))
              .asType(
                  MethodType.methodType(
                      void.class, SelectableChannel.class, int.class, long.class));
      DESCRIPTOR =
          lookup
              .findVirtual(SELECTABLE, "getFDVal", MethodType.methodType(int.class))
              .asType(MethodType.methodType(int.class, SelectableChannel.class));
      KILL =
          lookup
              .findVirtual(SELECTABLE, "kill", MethodType.methodType(void.class))
              .asType(MethodType.methodType(void.class, SelectableChannel.class));
      IS_VIRTUAL = isVirtual(lookup);
      Class<?> thread = Class.forName(PACKAGE + ".NativeThread");
      CURRENT_NATIVE = lookup.findStatic(thread, "current", MethodType.methodType(long.class));
      SIGNAL_NATIVE =
          lookup.findStatic(thread, "signal", MethodType.methodType(void.class, long.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "Talaria needs the JDK's package "
              + PACKAGE
              + ": start with -javaagent:talaria.jar, or add --add-exports java.base/"
              + PACKAGE
              + "=ALL-UNNAMED ("
              + e
              + ")",
          e);
    }
  }

  private JdkNio() {}

  private static MethodHandle isVirtual(MethodHandles.Lookup lookup)
      throws ReflectiveOperationException {
    MethodType type = MethodType.methodType(boolean.class);
    try {
      return lookup.findVirtual(Thread.class, "isVirtual", type);
    } catch (NoSuchMethodException beforeJdk21) {
      return MethodHandles.dropArguments(
          MethodHandles.constant(boolean.class, false), 0, Thread.class);
    }
  }

  /** Loaded by those who need it only. The JDK's plainest channel is a pipe's reading end. */
  private static final class Descriptors {
    /** Null unless the package is open to us. */
    static final Constructor<?> CHANNEL = Privileged.get(Descriptors::channel);

    static final Method NEW = Privileged.get(Descriptors::descriptor);

    private Descriptors() {}

    private static Constructor<?> channel() {
      try {
        Constructor<?> found =
            Class.forName(PACKAGE + ".SourceChannelImpl")
                .getDeclaredConstructor(SelectorProvider.class, FileDescriptor.class);
        return found.trySetAccessible() ? found : null;
      } catch (ReflectiveOperationException e) {
        return null; // another JDK: it does not work there
      }
    }

    private static Method descriptor() {
      try {
        return Class.forName(PACKAGE + ".IOUtil").getMethod("newFD", int.class);
      } catch (ReflectiveOperationException e) {
        return null;
      }
    }
  }

  /**
   * Whether {@link #channelOver} works: it needs the package to be open, by the agent or by {@code
   * --add-opens java.base/sun.nio.ch=ALL-UNNAMED}.
   */
  public static boolean opensDescriptors() {
    return Descriptors.CHANNEL != null && Descriptors.NEW != null;
  }

  /**
   * A channel to register with the JDK's selectors for reading, over any descriptor that can be
   * polled. It owns the descriptor, which becomes non-blocking.
   *
   * @param descriptor an open file descriptor
   */
  public static SelectableChannel channelOver(int descriptor) throws IOException {
    try {
      SelectableChannel channel =
          (SelectableChannel)
              Descriptors.CHANNEL.newInstance(PROVIDER, Descriptors.NEW.invoke(null, descriptor));
      channel.configureBlocking(false);
      return channel;
    } catch (ReflectiveOperationException e) {
      throw new IOException("no channel over a descriptor: " + e, e);
    }
  }

  /** Loaded by those who need it only. */
  private static final class OpenFiles {
    static final MethodHandle DESCRIPTOR;
    static final MethodHandle BLOCKING;

    static {
      try {
        DESCRIPTOR = util("fdVal", MethodType.methodType(int.class, FileDescriptor.class));
        BLOCKING =
            util(
                "configureBlocking",
                MethodType.methodType(void.class, FileDescriptor.class, boolean.class));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("another JDK: " + e, e);
      }
    }

    private OpenFiles() {}

    private static MethodHandle util(String name, MethodType type)
        throws ReflectiveOperationException {
      return Privileged.call(
          () -> MethodHandles.lookup().findStatic(Class.forName(PACKAGE + ".IOUtil"), name, type));
    }
  }

  /** The number of an open descriptor. */
  public static int descriptor(FileDescriptor file) {
    try {
      return (int) OpenFiles.DESCRIPTOR.invokeExact(file);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** The number of the descriptor of an open channel of the JDK's. */
  public static int descriptor(SelectableChannel channel) {
    try {
      return (int) DESCRIPTOR.invokeExact(channel);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Has reads and writes of an open file, such as the end of a pipe, fail rather than wait. */
  public static void doNotBlock(FileDescriptor file) throws IOException {
    try {
      OpenFiles.BLOCKING.invokeExact(file, false);
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** The provider that the JDK would use if no other had been set. */
  public static SelectorProvider provider() {
    return PROVIDER;
  }

  /** Whether a channel is one of the JDK's own, which its selectors accept. */
  public static boolean isJdkChannel(Channel channel) {
    return SELECTABLE.isInstance(channel);
  }

  /** Frees the descriptor of a channel of the JDK's that is closed and in no selector any more. */
  public static void free(SelectableChannel closed) {
    try {
      KILL.invokeExact(closed);
    } catch (IOException e) {
      // The descriptor is free all the same.
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Whether a thread is virtual. */
  public static boolean isVirtual(Thread thread) {
    try {
      return (boolean) IS_VIRTUAL.invokeExact(thread);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Waits until a channel of the JDK's has an event. Returns early at any signal; a virtual thread
   * unmounts.
   *
   * @param event {@link #READABLE} or {@link #WRITABLE}
   * @param timeoutNs nanoseconds, or 0 to wait without limit
   */
  public static void park(SelectableChannel channel, int event, long timeoutNs) throws IOException {
    try {
      PARK.invokeExact(channel, event, timeoutNs);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** A handle of the current thread for {@link #signal}; 0 or negative for a virtual thread. */
  public static long currentNativeThread() {
    try {
      return (long) CURRENT_NATIVE.invokeExact();
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Interrupts the system call in which a platform thread may be, if the system lets us. */
  public static void signal(long nativeThread) {
    if (nativeThread > 0) {
      try {
        SIGNAL_NATIVE.invokeExact(nativeThread);
      } catch (IOException e) {
        // Too many signals are pending; the sleeping thread looks again by itself.
      } catch (Throwable e) {
        throw unexpected(e);
      }
    }
  }

  private static IllegalStateException unexpected(Throwable e) {
    return new IllegalStateException("unexpected: " + e, e);
  }
}

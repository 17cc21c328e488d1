// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jdk;

import io.talaria.nio.privileged.Privileged;
import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Asks the kernel whether a TCP connection is over, or its input, without taking from it what its
 * reader is to find. Where {@code sun.nio.ch} is open to us, by one call to {@code poll}, which
 * tells that the connection has hung up or failed whatever it is asked for.
 *
 * <p>Elsewhere by a selector of the JDK's, which takes four calls: it reports a channel as ready
 * for all that it is registered for once it has hung up or failed, and one that is connected as
 * ready to connect only then. That an input has ended behind unread bytes is not seen that way.
 */
public final class JdkProbe {
  /** {@code POLLERR} and {@code POLLHUP}. */
  private static final int OVER = 8 | 16;

  /** {@code POLLRDHUP}: the peer sends no more, whatever is still to be read. */
  private static final int INPUT_OVER = 0x2000;

  /** One for the process, since it is used for some microseconds. Guarded by the class. */
  private static Selector selector;

  /** Null unless the package is open to us. */
  private static final MethodHandle POLL = Privileged.get(JdkProbe::poll);

  private static final MethodHandle DESCRIPTOR = Privileged.get(JdkProbe::descriptor);

  private JdkProbe() {}

  private static MethodHandle poll() {
    try {
      return JdkEpoll.opened("Net", "poll", FileDescriptor.class, int.class, long.class);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null; // not open, or another JDK
    }
  }

  private static MethodHandle descriptor() {
    try {
      return MethodHandles.lookup()
          .findVirtual(
              Class.forName(JdkNio.PACKAGE + ".SelChImpl"),
              "getFD",
              MethodType.methodType(FileDescriptor.class))
          .asType(MethodType.methodType(FileDescriptor.class, SocketChannel.class));
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  /**
   * Whether a connection has been reset, or has ended in both directions. No thread may close the
   * channel meanwhile: its descriptor might be another's then, or the close be put off.
   *
   * @param connected a channel of the JDK's in non-blocking mode, which has been connected
   * @return true also if the channel is closed, or the kernel cannot be asked
   */
  public static boolean over(SocketChannel connected) {
    return polls() ? overByPoll(connected) : overBySelector(connected);
  }

  /**
   * Whether the peer has ended its output, or the connection is {@link #over}; unread bytes may
   * stand before that. As there, no thread may close the channel meanwhile.
   *
   * @param connected a channel of the JDK's in non-blocking mode, which has been connected
   * @return true also if the channel is closed, or the kernel cannot be asked
   */
  public static boolean inputOver(SocketChannel connected) {
    return polls() ? inputOverByPoll(connected) : inputOverBySelector(connected);
  }

  /** Whether the shorter way is open. */
  static boolean polls() {
    return POLL != null && DESCRIPTOR != null;
  }

  static boolean overByPoll(SocketChannel connected) {
    return polled(connected, 0) != 0;
  }

  static boolean inputOverByPoll(SocketChannel connected) {
    return polled(connected, INPUT_OVER) != 0;
  }

  /** What has happened to it: of the events that are named, and of those that are always told. */
  private static int polled(SocketChannel connected, int events) {
    try {
      if (!connected.isOpen()) {
        return OVER;
      }
      FileDescriptor descriptor = (FileDescriptor) DESCRIPTOR.invokeExact(connected);
      return (int) POLL.invokeExact(descriptor, events, 0L) & (events | OVER);
    } catch (Throwable e) { // of the kernel's an IOException
      return OVER;
    }
  }

  static boolean overBySelector(SocketChannel connected) {
    return selects(connected, SelectionKey.OP_CONNECT);
  }

  static boolean inputOverBySelector(SocketChannel connected) {
    try {
      return selects(connected, SelectionKey.OP_READ)
          && connected.socket().getInputStream().available() == 0;
    } catch (IOException e) {
      return true;
    }
  }

  private static synchronized boolean selects(SocketChannel connected, int operation) {
    try {
      if (selector == null) {
        selector = JdkNio.provider().openSelector();
      }
      SelectionKey key = connected.register(selector, operation);
      boolean ready = selector.selectNow() > 0;
      key.cancel();
      selector.selectedKeys().clear();
      selector.selectNow(); // lets go of it
      return ready;
    } catch (ClosedChannelException e) {
      return true;
    } catch (IOException e) {
      return true; // out of descriptors, for example
    }
  }
}

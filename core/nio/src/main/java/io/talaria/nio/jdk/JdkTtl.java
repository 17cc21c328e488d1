// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jdk;

import io.talaria.nio.privileged.Privileged;
import java.io.FileDescriptor;
import java.lang.reflect.Method;
import java.nio.channels.SocketChannel;

/**
 * The time to live of a TCP connection's packets of IPv4: what this side gives its own, and what
 * the packet had by which the client completed a connection that was accepted here. Linux keeps the
 * latter where a datagram socket has the time to live of its multicasts. Needs the package {@code
 * sun.nio.ch} to be open, by the agent or by {@code --add-opens java.base/sun.nio.ch=ALL-UNNAMED}.
 * Any thread that knows that no other closes the channel meanwhile.
 */
public final class JdkTtl {
  /** What {@link #received} gives if it cannot be found out. */
  public static final int UNKNOWN = 0;

  private static final int IPPROTO_IP = 0;
  private static final int IP_TTL = 2;
  private static final int IP_MULTICAST_TTL = 33;

  private static final Method DESCRIPTOR = Privileged.get(JdkTtl::descriptor);
  private static final Method SET =
      Privileged.get(
          () ->
              option(
                  "setIntOption0",
                  FileDescriptor.class,
                  boolean.class,
                  int.class,
                  int.class,
                  int.class,
                  boolean.class));
  private static final Method GET =
      Privileged.get(
          () -> option("getIntOption0", FileDescriptor.class, boolean.class, int.class, int.class));

  private JdkTtl() {}

  private static Method descriptor() {
    try {
      return Class.forName(JdkNio.PACKAGE + ".SelChImpl").getMethod("getFD");
    } catch (ReflectiveOperationException e) {
      return null; // another JDK: it does not work there
    }
  }

  private static Method option(String name, Class<?>... parameters) {
    try {
      Method found = Class.forName(JdkNio.PACKAGE + ".Net").getDeclaredMethod(name, parameters);
      return found.trySetAccessible() ? found : null;
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** Whether this Java lets us set and get it. */
  public static boolean known() {
    return DESCRIPTOR != null && SET != null && GET != null;
  }

  /**
   * Gives the packets that a channel of the JDK's will send a time to live.
   *
   * @return whether it has been set
   */
  public static boolean set(SocketChannel channel, int ttl) {
    if (!known()) {
      return false;
    }
    try {
      SET.invoke(null, DESCRIPTOR.invoke(channel), false, IPPROTO_IP, IP_TTL, ttl, false);
      return true;
    } catch (ReflectiveOperationException | RuntimeException e) {
      return false; // the channel is closed, or has no IPv4
    }
  }

  /**
   * What the packet had that completed an accepted connection.
   *
   * @return the time to live as it arrived; {@link #UNKNOWN} if that cannot be found out
   */
  public static int received(SocketChannel accepted) {
    if (!known()) {
      return UNKNOWN;
    }
    try {
      return (int)
          GET.invoke(null, DESCRIPTOR.invoke(accepted), false, IPPROTO_IP, IP_MULTICAST_TTL);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return UNKNOWN;
    }
  }
}

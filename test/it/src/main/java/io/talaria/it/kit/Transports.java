// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.util.List;

/**
 * On which transport the bytes of a connection came, if this process has Talaria. Programs under
 * test do not know Talaria, so it is asked by its names. Any thread may call it.
 */
public final class Transports {
  private static final Method SNAPSHOT = method("io.talaria.nio.Connections", "snapshot");
  private static final String INFO = "io.talaria.nio.ConnectionInfo";
  private static final Method LOCAL = method(INFO, "local");
  private static final Method REMOTE = method(INFO, "remote");
  private static final Method ACCELERATED_IN = method(INFO, "acceleratedInBytes");

  private Transports() {}

  private static Method method(String type, String name) {
    try {
      return Class.forName(type).getMethod(name);
    } catch (ClassNotFoundException e) {
      return null;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException("another Talaria than these tests are for", e);
    }
  }

  /**
   * Bytes of a connection that did not come on TCP.
   *
   * @param channel an open connection
   * @return bytes read from shared memory so far; 0 without Talaria
   * @throws IOException if the channel cannot tell its addresses
   */
  public static long acceleratedInBytes(SocketChannel channel) throws IOException {
    if (SNAPSHOT == null) {
      return 0;
    }
    SocketAddress local = channel.getLocalAddress();
    SocketAddress remote = channel.getRemoteAddress();
    try {
      for (Object info : (List<?>) SNAPSHOT.invoke(null)) {
        if (remote.equals(REMOTE.invoke(info)) && local.equals(LOCAL.invoke(info))) {
          return (Long) ACCELERATED_IN.invoke(info);
        }
      }
      return 0;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Talaria cannot tell", e);
    }
  }
}

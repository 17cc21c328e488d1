// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jdk;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Asks the kernel whether a TCP connection is over, without taking from it what its reader is to
 * find. The JDK's selectors report a channel as ready for all that it is registered for once it has
 * hung up or failed, and one that is connected as ready to connect only then.
 */
public final class JdkProbe {
  /** One for the process, since it is used for some microseconds. Guarded by the class. */
  private static Selector selector;

  private JdkProbe() {}

  /**
   * Whether a connection has been reset, or has ended in both directions. Meanwhile a selector of
   * the JDK's has the channel, so no thread may close it.
   *
   * @param connected a channel of the JDK's in non-blocking mode, which has been connected
   * @return true also if the channel is closed, or the kernel cannot be asked
   */
  public static synchronized boolean over(SocketChannel connected) {
    try {
      if (selector == null) {
        selector = JdkNio.provider().openSelector();
      }
      SelectionKey key = connected.register(selector, SelectionKey.OP_CONNECT);
      boolean over = selector.selectNow() > 0;
      key.cancel();
      selector.selectedKeys().clear();
      selector.selectNow(); // lets go of it
      return over;
    } catch (ClosedChannelException e) {
      return true;
    } catch (IOException e) {
      return true; // out of descriptors, for example
    }
  }
}

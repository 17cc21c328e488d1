// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import io.talaria.nio.privileged.Privileged;
import io.talaria.nio.process.ProcNet;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * What a super-server, such as systemd or inetd, has handed over as the standard input. A TCP
 * listener is ours, unless it is of another network namespace: addresses mean other connections
 * there. A connection stays the JDK's: the standard streams are the same socket, which ours would
 * keep from blocking. Any thread.
 */
public final class InheritedChannel {
  private static final int STANDARD_INPUT = 0;

  /** Makes a listener ours. */
  @FunctionalInterface
  public interface Wrapper {
    /**
     * Wraps it.
     *
     * @param listener the JDK's, bound
     */
    ServerSocketChannel wrap(ServerSocketChannel listener) throws IOException;
  }

  private final SelectorProvider jdk;
  private final Wrapper wrapper;

  /** Null until a caller has asked, or if there is none. Guarded by this. */
  private ServerSocketChannel listener;

  /** Whether what is inherited is of this network namespace; null until a caller has asked. */
  private Boolean here;

  /**
   * @param jdk the JDK's own provider
   * @param wrapper makes a listener ours
   */
  public InheritedChannel(SelectorProvider jdk, Wrapper wrapper) {
    this.jdk = jdk;
    this.wrapper = wrapper;
  }

  /** Returns what was handed over, the same listener each time; null if that is nothing. */
  public Channel get() throws IOException {
    synchronized (this) {
      if (here == null) { // the JDK is about to take it from there
        here = Privileged.get(() -> ProcNet.hasSocket(STANDARD_INPUT));
      }
    }
    Channel inherited = jdk.inheritedChannel(); // each time: it asks the security manager
    if (!(inherited instanceof ServerSocketChannel theirs)) {
      return inherited;
    }
    synchronized (this) {
      if (listener == null && here && isBoundToTcp(theirs)) {
        listener = wrapper.wrap(theirs);
      }
      return listener == null ? inherited : listener;
    }
  }

  private static boolean isBoundToTcp(ServerSocketChannel listener) throws IOException {
    return listener.isOpen()
        && Privileged.call(listener::getLocalAddress) instanceof InetSocketAddress;
  }
}

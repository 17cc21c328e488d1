// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import io.talaria.nio.adaptor.SocketChannels;
import io.talaria.nio.channel.Channels;
import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/**
 * The selector provider: TCP channels that switch to a faster transport where there is one, and
 * everything else from the JDK.
 *
 * <p>Switched on by the agent, or by {@code
 * -Djava.nio.channels.spi.SelectorProvider=io.talaria.nio.TalariaProvider}. Configured by the
 * {@code talaria.*} system properties; a bad one makes the constructor throw, with its name, value
 * and allowed range. Thread-safe; one instance a process.
 */
public final class TalariaProvider extends SelectorProvider {
  private final Channels channels;

  /**
   * Called by the JDK, once.
   *
   * @throws IllegalArgumentException if a {@code talaria.*} property has a bad value
   * @throws IllegalStateException if the JDK's package {@code sun.nio.ch} is not exported to us
   */
  public TalariaProvider() {
    channels = Privileged.get(() -> new Channels(this));
    if (channels.wantsJmx()) {
      TalariaManagement.register();
    }
  }

  /** Channels to stand behind {@code java.net.Socket}. */
  SocketChannels socketChannels() {
    return channels.socketChannels();
  }

  @Override
  public SocketChannel openSocketChannel() throws IOException {
    return channels.openSocketChannel();
  }

  @Override
  public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
    return channels.openSocketChannel(family);
  }

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    return channels.openServerSocketChannel();
  }

  @Override
  public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
    return channels.openServerSocketChannel(family);
  }

  @Override
  public AbstractSelector openSelector() throws IOException {
    return channels.openSelector();
  }

  @Override
  public DatagramChannel openDatagramChannel() throws IOException {
    return channels.jdk().openDatagramChannel();
  }

  @Override
  public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
    return channels.jdk().openDatagramChannel(family);
  }

  @Override
  public Pipe openPipe() throws IOException {
    return channels.jdk().openPipe();
  }

  @Override
  public Channel inheritedChannel() throws IOException {
    return channels.inheritedChannel();
  }
}

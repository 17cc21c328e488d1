// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/** The JDK's provider in a process that has descriptors for everything but a selector. */
final class ScarceProvider extends SelectorProvider {
  private final SelectorProvider jdk = JdkNio.provider();

  /** Whether there are descriptors enough now. */
  volatile boolean enough;

  @Override
  public AbstractSelector openSelector() throws IOException {
    if (!enough) {
      throw new IOException("Too many open files");
    }
    return jdk.openSelector();
  }

  @Override
  public DatagramChannel openDatagramChannel() throws IOException {
    return jdk.openDatagramChannel();
  }

  @Override
  public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
    return jdk.openDatagramChannel(family);
  }

  @Override
  public Pipe openPipe() throws IOException {
    return jdk.openPipe();
  }

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    return jdk.openServerSocketChannel();
  }

  @Override
  public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
    return jdk.openServerSocketChannel(family);
  }

  @Override
  public SocketChannel openSocketChannel() throws IOException {
    return jdk.openSocketChannel();
  }

  @Override
  public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
    return jdk.openSocketChannel(family);
  }
}

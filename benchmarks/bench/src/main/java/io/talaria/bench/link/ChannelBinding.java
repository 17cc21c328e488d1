// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Connects by {@code SocketChannel}. */
final class ChannelBinding implements Binding {
  /** Makes a link of a connected channel in blocking mode. */
  @FunctionalInterface
  interface Maker {
    Link make(SocketChannel channel) throws IOException;
  }

  private final Setup setup;
  private final Maker maker;
  private ServerSocketChannel listener;
  private Link link;

  ChannelBinding(Setup setup, Maker maker) {
    this.setup = setup;
    this.maker = maker;
  }

  @Override
  public String offer() throws IOException {
    listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(0));
    return Integer.toString(((InetSocketAddress) listener.getLocalAddress()).getPort());
  }

  @Override
  public String answer(String offer) throws IOException {
    SocketChannel channel = SocketChannel.open();
    InetSocketAddress server = new InetSocketAddress(setup.host(), Integer.parseInt(offer));
    try {
      channel.socket().connect(server, CONNECT_LIMIT_MS); // a channel alone knows no limit
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    link(channel);
    return "";
  }

  @Override
  public void accept(String answer) throws IOException {
    link(listener.accept());
  }

  private void link(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    link = maker.make(channel);
  }

  @Override
  public Link link() {
    return link;
  }

  @Override
  public void close() throws IOException {
    if (listener != null) {
      listener.close();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import io.talaria.it.kit.Console;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;

/** A listener, with a selector or with a thread. */
final class Gate implements Loop.Ready {
  private static final int BACKLOG = 512;

  private final Node node;
  private final ServerSocketChannel listener;
  private final Random chance;
  private volatile Loop loop;

  Gate(Node node, long seed) throws IOException {
    this.node = node;
    this.chance = new Random(seed);
    listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress("127.0.0.1", 0), BACKLOG);
  }

  int port() throws IOException {
    return ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }

  void open(boolean blocking) throws IOException {
    if (blocking) {
      Console.daemon("gate", this::acceptForEver);
      return;
    }
    listener.configureBlocking(false);
    Loop any = node.anyLoop(chance);
    loop = any;
    any.execute(this::register);
  }

  private void register() {
    try {
      listener.register(loop.selector(), SelectionKey.OP_ACCEPT, this);
    } catch (ClosedSelectorException e) {
      loop.execute(this::register);
    } catch (ClosedChannelException e) {
      throw new IllegalStateException("nobody closes a listener", e);
    }
  }

  /** The selector of a loop is gone, and a new one there. */
  void reregister(Loop there) {
    if (there == loop) {
      register();
    }
  }

  private void acceptForEver() throws IOException {
    while (true) {
      accepted(listener.accept());
    }
  }

  @Override
  public void ready(SelectionKey key) {
    try {
      for (SocketChannel channel = listener.accept();
          channel != null;
          channel = listener.accept()) {
        accepted(channel);
      }
    } catch (IOException e) {
      throw new IllegalStateException("accept failed", e);
    }
  }

  private void accepted(SocketChannel channel) throws IOException {
    Answerer answerer = new Answerer(node, channel, chance.nextLong());
    node.add(answerer);
    answerer.begin(chance.nextInt(4) == 0);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Where sessions come in that are about one listener: a listening socket. Negotiation thread. */
abstract class Doorway {
  private ServerSocketChannel channel;
  private SelectionKey key;

  /** Whether a connection with these addresses may have come to the listener. */
  abstract boolean covers(ConnectionKey connection);

  /** Whether the listener has been closed for so long. */
  abstract boolean closedFor(long nowNs, long sinceNs);

  /** Takes a bound channel, and closes it: its callers are heard once {@link #listen} is called. */
  final void hear(ServerSocketChannel bound, Selector selector) throws IOException {
    channel = bound;
    bound.configureBlocking(false);
    key = bound.register(selector, 0, this);
  }

  /** Does nothing where there is no channel. */
  final void listen() {
    interest(SelectionKey.OP_ACCEPT);
  }

  /** Hears nobody until {@link #listen} is called again. */
  final void pause() {
    interest(0);
  }

  private void interest(int ops) {
    if (key != null && key.isValid()) {
      key.interestOps(ops);
    }
  }

  /** The next caller, or null. */
  final SocketChannel accept() throws IOException {
    return key.isValid() ? channel.accept() : null;
  }

  void close() {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // It is closed as far as it can be.
      }
    }
  }
}

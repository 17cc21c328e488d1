// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** A listening socket for sessions about one of the program's listeners. Negotiation thread. */
public abstract class Acceptor implements NegotiationLoop.Ready {
  private ServerSocketChannel channel;
  private SelectionKey key;

  /** Whether a connection with these addresses may have come to the listener. */
  public abstract boolean covers(ConnectionKey connection);

  /** Whether the listener has been closed for so long. */
  public abstract boolean closedFor(long nowNs, long sinceNs);

  /** Takes a bound channel, and closes it: it accepts once {@link #listen} is called. */
  protected final void register(ServerSocketChannel bound, NegotiationLoop loop)
      throws IOException {
    channel = bound;
    bound.configureBlocking(false);
    key = bound.register(loop.selector(), 0, this);
  }

  /** Accepts from now on. Does nothing where there is no channel. */
  public final void listen() {
    interest(SelectionKey.OP_ACCEPT);
  }

  /** Accepts no peer for a moment: the failure may pass, and endless retries must be avoided. */
  public final void pause(NegotiationLoop loop) {
    interest(0);
    loop.later(this::listen);
  }

  private void interest(int ops) {
    if (key != null && key.isValid()) {
      key.interestOps(ops);
    }
  }

  /** The next that has connected, or null. */
  public final SocketChannel accept() throws IOException {
    return key.isValid() ? channel.accept() : null;
  }

  /** Closes the channel, if there is one. */
  public void close() {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // It is closed as far as it can be.
      }
    }
  }
}

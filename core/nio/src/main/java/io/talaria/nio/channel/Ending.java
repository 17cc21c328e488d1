// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.context.Context;
import io.talaria.nio.transport.TransportStream;

/**
 * How a connection ends on this side: what is said of it on the transport, the close of the control
 * connection, which may have to wait for the peer, and the release of the stream, which no thread
 * may use afterwards. One state that only grows.
 *
 * <p>A close takes one of two ways, as the JDK's does, which is decided when it begins:
 *
 * <ul>
 *   <li><b>At once</b>, by the thread that closes, or by the last to leave the channel.
 *   <li><b>In two steps</b>, for a channel in non-blocking mode that a selector has: the close ends
 *       the output alone ({@link PathOutput#endHalf}), and the state stays {@link #OPEN}, so that
 *       the control connection carries doorbells and the peer may write. All else follows when the
 *       last selector has let go of it: whether bytes are left unread is looked at then. Once the
 *       channel is closed, the thread that finds it in no selector calls {@link PathOutput#end},
 *       {@link #close} and {@link #release}, in this order; it may be two threads, the one that
 *       closes and the one that deregisters, so each of the three counts once. The second thread
 *       finds that the first has published the end, because that is done under the out lock, and
 *       releases nothing before the first thread's close is over, because only {@link #CLOSED} is
 *       released.
 * </ul>
 *
 * <p>A connection that ends with a reset does not wait until the peer has read TCP, and its control
 * connection is reset, too: what the peer's kernel has is read before the reset all the same, and
 * the port is free at once.
 */
final class Ending {
  /** Not yet. */
  private static final int OPEN = 0;

  /** A close has published on the transport how this side ends, or has left that to TCP. */
  private static final int PUBLISHED = 1;

  /** The control connection outlives the channel, and the stream does too. */
  private static final int LINGERING = 2;

  /** The control connection is closed; nothing here looks at the stream any more. */
  private static final int CLOSED = 3;

  /** The stream is given back. */
  private static final int RELEASED = 4;

  /** How long a closed channel keeps its control connection for a peer that has yet to read TCP. */
  private static final long LINGER_NS = 60_000_000_000L;

  /** How long a reset waits for a transport in the thread that closes. */
  private static final long FLUSH_LIMIT_NS = 20_000_000L;

  private final Context context;
  private final ConnectionPath connectionPath;
  private final ControlLink link;

  // Guarded by this.
  private int state = OPEN;

  /** Whether the connection ends with a reset, which is published before the state is. */
  private boolean byReset;

  /** Whether {@link #close} was called. */
  private boolean closing;

  /** Whether the channel is closed and in no selector. */
  private boolean unused;

  Ending(Context context, ConnectionPath connectionPath, ControlLink link) {
    this.context = context;
    this.connectionPath = connectionPath;
    this.link = link;
  }

  private synchronized boolean isAt(int wanted) {
    return state == wanted;
  }

  private synchronized boolean grow(int from, int to) {
    if (state != from) {
      return false;
    }
    state = to;
    return true;
  }

  /** Whether no close has published how this side ends yet. */
  boolean isUnpublished() {
    return isAt(OPEN);
  }

  /** Claims the publishing of how this side ends; true for one caller. Under the out lock. */
  boolean publish() {
    return grow(OPEN, PUBLISHED);
  }

  /** The connection ends with a reset, also on TCP. By the thread that publishes the end. */
  synchronized void byReset() {
    byReset = true;
  }

  /** Whether it does. */
  synchronized boolean isByReset() {
    return byReset;
  }

  private synchronized boolean begin() {
    boolean first = !closing;
    closing = true;
    return first;
  }

  /**
   * Closes the control connection once the peer has what was put on TCP, or at once where the end
   * is a reset. No thread is inside. The first call counts.
   */
  void close() {
    if (!begin()) {
      return;
    }
    boolean decided = false;
    try {
      context.guarded(this::closeWhenDelivered);
      decided = true;
    } finally {
      if (!decided) { // the memory is gone, and an error of it still comes
        closed();
      }
      releaseIfDue();
    }
  }

  private void closeWhenDelivered() {
    if (isAt(PUBLISHED)) { // else an error has come behind the decision
      if (connectionPath.switchedOut() && isByReset()) {
        awaitFlush();
      }
      if (connectionPath.switchedOut() && !link.over() && !delivered()) {
        linger();
      } else {
        drainAndClose();
      }
    }
  }

  /** A reset waits a moment for what a transport has under way, so that close frees the port. */
  private void awaitFlush() {
    long startNs = System.nanoTime();
    while (!connectionPath.stream().flushed() && System.nanoTime() - startNs < FLUSH_LIMIT_NS) {
      Thread.yield();
    }
  }

  private void linger() {
    boolean lingers = grow(PUBLISHED, LINGERING);
    assert lingers;
    link.forgetLinger(); // the negotiation thread closes it, and has other work than to wait
    long deadlineNs = System.nanoTime() + LINGER_NS;
    context.repeat(() -> lingered(deadlineNs), this::stopLingering);
  }

  /**
   * Whether the peer no longer needs the control connection: FIN or RST says that all is said. Two
   * sides that have closed before either switched its input would else wait for each other.
   */
  private boolean delivered() {
    TransportStream stream = connectionPath.stream();
    return stream.flushed()
        && (isByReset()
            || connectionPath.output().tcpBytes() == 0
            || stream.peerInputSwitched()
            || stream.peerInputClosed());
  }

  /** Negotiation thread. */
  private boolean lingered(long deadlineNs) {
    link.drain(false);
    if (!link.over() && !delivered() && System.nanoTime() < deadlineNs) {
      return false;
    }
    drainAndClose();
    releaseIfDue();
    return true;
  }

  /** Looking whether the peer has all fails again and again: the descriptor goes all the same. */
  private void stopLingering() {
    closed();
    releaseIfDue();
  }

  private void drainAndClose() {
    if (connectionPath.switchedOut() && !link.ended()) {
      link.drain(false); // an unread doorbell would turn our FIN into a reset
    }
    closed();
  }

  private synchronized void closed() {
    link.close(byReset);
    state = Math.max(state, CLOSED);
  }

  /** The channel is closed and in no selector: gives the stream back, now or once it may be. */
  void release() {
    synchronized (this) {
      unused = true;
    }
    releaseIfDue();
  }

  private void releaseIfDue() {
    synchronized (this) {
      if (!unused || state != CLOSED) {
        return;
      }
      state = RELEASED;
    }
    if (connectionPath.stream() != null) {
      connectionPath.stream().release();
    }
  }
}

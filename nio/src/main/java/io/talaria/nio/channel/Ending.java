// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.fabric.FabricStream;

/**
 * How a connection ends on this side: what is said of it in the fabric, the close of the control
 * connection, which may have to wait for the peer, and the release of the stream, which nobody may
 * use afterwards. One state that only grows.
 */
final class Ending {
  /** Not yet. */
  private static final int OPEN = 0;

  /** A close has said in the fabric how this side ends, or left that to TCP. */
  private static final int TOLD = 1;

  /** The control connection outlives the channel, and the stream does too. */
  private static final int LINGERING = 2;

  /** The control connection is closed; nothing here looks at the stream any more. */
  private static final int CLOSED = 3;

  /** The stream is given back. */
  private static final int RELEASED = 4;

  /** How long a closed channel keeps its control connection for a peer that has yet to read TCP. */
  private static final long LINGER_NS = 60_000_000_000L;

  private final Context context;
  private final Lane lane;
  private final ControlLink link;

  // Guarded by this.
  private int state = OPEN;

  /** Whether the channel is closed and in no selector. */
  private boolean unused;

  Ending(Context context, Lane lane, ControlLink link) {
    this.context = context;
    this.lane = lane;
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

  /** Whether a close has yet to say how this side ends. */
  boolean toBeTold() {
    return isAt(OPEN);
  }

  /** Takes it on to say how this side ends; true for one caller. Under the out lock. */
  boolean tell() {
    return grow(OPEN, TOLD);
  }

  /** Closes the control connection once the peer has what was put on TCP. Nobody is inside. */
  void close() {
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
    if (isAt(TOLD)) { // else an error has come behind the decision
      if (lane.switchedOut() && !link.over() && !delivered()) {
        linger();
      } else {
        drainAndClose();
      }
    }
  }

  private void linger() {
    boolean lingers = grow(TOLD, LINGERING);
    assert lingers;
    long deadlineNs = System.nanoTime() + LINGER_NS;
    context.repeat(() -> lingered(deadlineNs), this::stopLingering);
  }

  /** Whether the peer needs the control connection no more: FIN says that all is said. */
  private boolean delivered() {
    FabricStream stream = lane.stream();
    return stream.flushed() && (lane.output().tcpBytes() == 0 || stream.peerInputSwitched());
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
    if (lane.switchedOut() && !link.ended()) {
      link.drain(false); // an unread bell would turn our FIN into a reset
    }
    closed();
  }

  private synchronized void closed() {
    link.close();
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
    if (lane.stream() != null) {
      lane.stream().release();
    }
  }
}

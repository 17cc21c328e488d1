// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

/**
 * What becomes of a connection whose peer's process is lost: its session has ended, and TCP has yet
 * to say how the connection did. Negotiation thread, except where marked.
 */
final class LostPeer {
  /** How long TCP may take to tell how a lost peer ended, after the input has switched. */
  private static final long LAST_LOOK_NS = 900_000_000L;

  private final ConnectionPath connectionPath;
  private final TalariaSocketChannel channel;
  private final PathUpgrade upgrade;

  /** Writes break, while TCP may still bring bytes of the peer's. Others look at it. */
  private volatile boolean abandoned;

  /** When that was first seen with the input switched; 0 before. */
  private long abandonedInTransportAtNs;

  LostPeer(ConnectionPath connectionPath, TalariaSocketChannel channel, PathUpgrade upgrade) {
    this.connectionPath = connectionPath;
    this.channel = channel;
    this.upgrade = upgrade;
  }

  /** Whether the peer is lost for writers. Any thread. */
  boolean abandoned() {
    return abandoned;
  }

  /**
   * Looks whether the control connection has ended.
   *
   * @param giveUp whether to wait for that no longer, except for what TCP still brings
   * @return true if it has, or the channel is closed, or TCP continues without a stream
   */
  boolean look(boolean giveUp) {
    ControlLink link = connectionPath.link();
    if (channel.closing() || link.ended()) {
      connectionPath.nudgeSelectors();
      return true;
    }
    if (!connectionPath.switchedOut() && upgrade.withdrawFromLostPeer()) {
      return true;
    }
    connectionPath.switchOutIfEstablished();
    if (!connectionPath.switchedIn()) {
      connectionPath.controlReadable();
    } else if (link.drain(true)) {
      connectionPath.wake(); // this thread has read what was for another
    }
    if (!link.ended() && giveUp) {
      giveUp();
    }
    if (link.ended()) {
      connectionPath.nudgeSelectors();
    }
    return link.ended();
  }

  /**
   * The peer's process does not answer for this connection any more, and TCP has not said how it
   * ended. Writes break now; reading ends when TCP does, or with a reset once all is taken from it.
   */
  private void giveUp() {
    if (!connectionPath.switchedIn()) {
      if (!abandoned) {
        abandoned = true;
        connectionPath.stream().outputLost();
        connectionPath.wake();
      }
      return;
    }
    if (abandoned) {
      long now = System.nanoTime();
      if (abandonedInTransportAtNs == 0) {
        abandonedInTransportAtNs = now;
      }
      if (now - abandonedInTransportAtNs < LAST_LOOK_NS) {
        return;
      }
    }
    connectionPath.link().endByReset();
  }
}

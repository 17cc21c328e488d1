// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.TransportStream;

/** A connected channel, as the negotiation sees it. */
public interface Upgradable {

  /** The addresses of the TCP connection, which both ends know. */
  ConnectionKey key();

  /**
   * Gives the channel its fast stream.
   *
   * @return false if the channel cannot use it any more; the caller then withdraws and releases it
   */
  boolean attach(TransportStream stream);

  /**
   * Whether the channel has found its selector, or seems to need none: a stream that is bound to
   * where it is made waits for that.
   */
  default boolean placed() {
    return true;
  }

  /** The ready set that the channel's only selector has in a transport, or null. */
  default ReadySet readySet(TransportProvider transport) {
    return null;
  }

  /** Whether the channel is still open, so that looking for an upgrade makes sense. */
  default boolean wanted() {
    return true;
  }

  /**
   * Whether the TCP connection is over, so that another may have the same addresses by now.
   * Negotiation thread.
   */
  default boolean over() {
    return false;
  }

  /**
   * The time to live that this side has given the packets of a client connection of its own; 0 if
   * none.
   */
  default int ttl() {
    return 0;
  }

  /**
   * The time to live of the packet by which the client has completed an accepted connection; 0 if
   * that is not known. Negotiation thread.
   */
  default int receivedTtl() {
    return 0;
  }

  /** When the connection stood already, on the clock of {@link System#nanoTime}. */
  default long stoodAtNs() {
    return System.nanoTime();
  }

  /** Tells why the connection is plain TCP as far as one can see now; this may change soon. */
  default void plainSoFar(Reason reason) {
    plain(reason);
  }

  /** Tells why the connection is plain TCP, for those who watch. */
  void plain(Reason reason);

  /**
   * Looks whether the control connection has ended, after the peer's session has.
   *
   * @param giveUp whether to wait for it no longer, except for what TCP still brings
   * @return true if it has ended, or the channel is closed
   */
  boolean peerLost(boolean giveUp);
}

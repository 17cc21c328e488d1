// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import java.nio.ByteBuffer;

/**
 * A peer process, seen by a transport: a negotiation session and what the transport keeps about it.
 * Used by the negotiation thread only, except {@link #execute} and {@link #send}.
 */
public interface Peer {
  /** Where there are no turns. */
  long NO_TURN = -1;

  /** Whether this side dialled; exactly one side of a peer did. */
  boolean initiator();

  /**
   * Whether the peer is on another host: then what it sends by the transport may arrive after its
   * control connections, or this session, have ended.
   */
  default boolean betweenHosts() {
    return false;
  }

  /** Process id of the peer as it says itself, for messages; 0 until it has said so. */
  long pid();

  /**
   * Sends a message to the transport's other half, in order, from any thread.
   *
   * @param message at most {@link TransportProvider#MAX_PAYLOAD_BYTES}; copied before return
   */
  void send(ByteBuffer message);

  /** Runs a task on the negotiation thread, from any thread. */
  void execute(Runnable task);

  /**
   * Number of the present turn of the negotiation thread: what is the same for all upgrades that
   * come together is looked at once a turn.
   *
   * @return a number that no other turn has, from 0; or {@link #NO_TURN}, and then nothing may be
   *     kept from one upgrade to the next
   */
  default long turnNumber() {
    return NO_TURN;
  }

  /** Ends the session because the peer, or what is shared with it, is of no use any more. */
  default void drop(String why) {}

  /** What the transport attached. */
  Object attachment();

  /** Attaches the transport's own state. */
  void attach(Object attachment);
}

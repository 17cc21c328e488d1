// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/**
 * A transport on which all connections of a node share one engine, such as that of a network card.
 * The session of each connection carries its handshake and its end.
 *
 * <p>The handshake also carries what the two ends must know of each other: the caller sends its
 * {@link #offer}, the other node responds with the result of {@link #accept}, and the caller passes
 * that to {@link #accepted}.
 */
public interface NetworkTransport {
  /**
   * Starts the engine, once there is a thread that it can wake.
   *
   * @param wake wakes the poller; called by any thread, does not wait
   * @param looks whether the poller also looks from time to time without a wake-up; false in tests
   *     of wake-ups
   */
  void begin(Runnable wake, boolean looks);

  /**
   * What this node sends to a node that it calls; empty if this transport must not be used.
   * Conductor.
   *
   * @throws IOException if it cannot be used now; the message is for people
   */
  byte[] offer(int id) throws IOException;

  /**
   * Creates the channel to a node that has called, or continues the existing one. Conductor.
   *
   * @param incarnation of that node
   * @param own incarnation of this node
   * @param offer what that node has sent
   * @return the response to that node
   * @throws IOException if the channel cannot be created; the message is for people
   */
  byte[] accept(int id, long incarnation, long own, byte[] offer) throws IOException;

  /**
   * Does at the calling node what {@link #accept} does at the other one. Conductor.
   *
   * @param offer what this node has sent
   * @param response what the other node has sent
   * @throws IOException as for {@link #accept}
   */
  void accepted(int id, long incarnation, byte[] offer, byte[] response) throws IOException;

  /**
   * Releases what {@link #offer} or {@link #accept} has made: no connection comes of it. Conductor.
   *
   * @param told the result of that call
   */
  default void release(byte[] told) {}

  /**
   * Creates a connection on the channel to a node. Conductor.
   *
   * @param number of the connection, larger than those of earlier connections with that node
   * @param told what this node has sent, the result of {@link #offer} or {@link #accept}
   * @param session connected, non-blocking; the link closes it
   * @param why the connection uses this transport
   * @param capacity of the ring of each priority, in bytes
   * @throws IOException if the channel has failed meanwhile
   */
  Link link(
      LinkOwner owner,
      int id,
      int number,
      byte[] told,
      SocketChannel session,
      String why,
      int[] capacity)
      throws IOException;

  /** Receives what has arrived for all connections; whether anything has. Poller. */
  boolean bring();

  /** Sends what all connections have to send; whether anything was sent. Poller. */
  boolean send();

  /** Declares that the poller is about to sleep; false if something has arrived. Poller. */
  boolean arm();

  /** How long the poller may sleep at most, in milliseconds; 0 means without limit. Poller. */
  int maxSleepMs();

  /** Releases everything. No thread may use the transport any more. Conductor. */
  void close();
}

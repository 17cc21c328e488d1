// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/**
 * A transport on which all connections of a node share one engine, such as a network card's. The
 * session of each carries its greeting, and its end.
 *
 * <p>What the two ends have to know of each other goes with their greeting: the caller's {@link
 * #offer}, the other's {@link #accept}, which the caller takes by {@link #accepted}.
 */
public interface Fabric {
  /**
   * Begins, when there is a thread to be woken.
   *
   * @param wake has the poller look; any thread, does not wait
   * @param looks whether the poller looks now and then without being woken; not in tests of
   *     wake-ups
   */
  void begin(Runnable wake, boolean looks);

  /** What it has to say to a node that is called; nothing: it is not to be used. Registrar. */
  byte[] offer(int id);

  /**
   * Makes the way to a node that has called, or takes the one there is. Registrar.
   *
   * @param incarnation of that node
   * @param own incarnation of this one
   * @param offer what it has said
   * @return what it is to be told
   * @throws IOException if there is no such way; with a sentence for people
   */
  byte[] accept(int id, long incarnation, long own, byte[] offer) throws IOException;

  /**
   * The same at the node that has called. Registrar.
   *
   * @param response what the other has told
   * @throws IOException as for {@link #accept}
   */
  void accepted(int id, long incarnation, byte[] response) throws IOException;

  /**
   * Makes a connection on the way to a node. Registrar.
   *
   * @param number of the connection, above those before with that node
   * @param session connected, non-blocking; the track closes it
   * @param why it is this transport
   * @param capacity of the ring of each priority, in bytes
   * @throws IOException if the way has failed meanwhile
   */
  Track track(
      TrackOwner owner, int id, int number, SocketChannel session, String why, int[] capacity)
      throws IOException;

  /** Takes what has come for all connections; whether anything has. Poller. */
  boolean bring();

  /** Sends what all connections have to send; whether anything was. Poller. */
  boolean send();

  /** Says that the poller is about to sleep; false if something is there. Poller. */
  boolean arm();

  /** How long the poller may sleep at most, in milliseconds; 0: until it is woken. Poller. */
  int maxSleepMs();

  /** Ends all; nobody is inside any more. Registrar. */
  void close();
}

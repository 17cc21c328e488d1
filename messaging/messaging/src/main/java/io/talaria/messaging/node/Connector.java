// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.dispatch.Timers;
import io.talaria.messaging.engine.Connection;
import java.io.IOException;
import java.util.List;

/**
 * Manages the connections of a node, on one thread of its own: makes those that are wanted and
 * those that other nodes want, watches them, and closes them. All methods may be called by any
 * thread, and none waits for a peer.
 */
public interface Connector {
  /** Makes the connector of a node. */
  interface Factory {
    /**
     * Opens the listeners; {@link Connector#start} follows.
     *
     * @throws IOException if an address cannot be listened on, or the key not be read
     */
    Connector open(LocalNode node) throws IOException;
  }

  /** Starts the thread. */
  void start();

  /** Closes everything on the calling thread, because its own could not be started. */
  void abandon();

  /** The TCP port, or −1. */
  int port();

  /** What runs tasks on the thread at a time. */
  Timers timers();

  /** The number of connections. */
  int connected();

  /** A copy of the connections. */
  List<Connection> connections();

  /** A connection is wanted. */
  void want(RemotePeer peer);

  /** A larger ring is wanted. */
  void grow(Connection connection, int priority);

  /** GOODBYE or STAY came. */
  void heard(Connection connection, byte kind);

  /** The other end of a connection has ended, but messages that have arrived wait for receivers. */
  void severed(Connection connection);

  /** The poller has closed a connection. */
  void ended(Connection connection);

  /** Whether the thread that calls this is the connector's own. */
  boolean isCurrentThread();

  /** From now on no node finds this one. */
  void closeListeners();

  /** Ends the thread, which closes all connections and the poller before. */
  void stopSoon();

  /**
   * Waits until all connections, files and selectors are closed, so many milliseconds at most. The
   * thread may live on for as long as memory has to stay mapped.
   */
  void awaitEnd(long millis) throws InterruptedException;
}

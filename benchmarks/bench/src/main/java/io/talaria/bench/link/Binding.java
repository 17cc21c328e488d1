// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;

/**
 * Makes one connection of a library. Each is used by one thread: the server's by {@link #offer} and
 * {@link #accept}, the client's by {@link #answer}. Closing it gives back what the link does not
 * own.
 */
public interface Binding extends AutoCloseable {
  /** How long to wait for a connection: what firewalls swallow is never refused. */
  int CONNECT_LIMIT_MS = 10_000;

  /**
   * What the connections are for.
   *
   * @param host how the client reaches the server
   * @param maxBytes the largest message
   * @param connections how many there are in this process
   * @param threads how many event loops they share; 0: one each
   * @param transports {@code UCX_TLS}; empty for UCX's choice
   * @param spins whether a thread that finds nothing to do keeps its core in any case; else it
   *     leaves it to others if there are fewer cores than connections need
   */
  record Setup(
      String host, int maxBytes, int connections, int threads, String transports, boolean spins) {}

  /**
   * As server: says how it can be reached.
   *
   * @return what {@link #answer} must be told
   * @throws IOException if it cannot be
   */
  String offer() throws IOException;

  /**
   * As client: connects.
   *
   * @param offer what the server said
   * @return what {@link #accept} must be told; may be empty
   * @throws IOException if there is no way
   */
  String answer(String offer) throws IOException;

  /**
   * As server: accepts what the client connected.
   *
   * @param answer what the client said
   * @throws IOException if it does not come
   */
  void accept(String answer) throws IOException;

  /** Returns the connection, once answered or accepted. */
  Link link();

  @Override
  void close() throws IOException;
}

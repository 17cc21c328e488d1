// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.net.InetSocketAddress;

/**
 * What reaches processes on other hosts: finds them, proves who both sides are, and hands over
 * {@linkplain Session#dialled sessions} with {@linkplain SessionLink links}. Negotiation thread,
 * except where marked.
 */
public interface RemoteHosts extends NegotiationLoop.Timed {
  /** Called once, before anything else, by the thread that makes the negotiator. */
  void join(Negotiator negotiator);

  /** The negotiation thread begins. */
  void begin();

  /** A listener is announced. Any thread. */
  void listen(Announcement announcement, InetSocketAddress listener);

  /** A listener is closed. */
  void retire(Announcement announcement);

  /**
   * Whether a client connection may be upgraded, as far as is known at once: false if {@link
   * #connected} does no more than to say why not. Any thread.
   */
  boolean mayReach(ConnectionKey key);

  /** A client connection to another host stands: looks for an upgrade. Any thread. */
  void connected(Upgradable channel);
}

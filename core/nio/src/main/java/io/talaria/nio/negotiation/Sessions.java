// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All sessions with peer processes, and the connections whose peer's session has ended and that
 * wait for their control connection to tell how. Negotiation thread.
 */
final class Sessions implements NegotiationLoop.Timed {
  /** How long a closed listener's sessions wait for offers of connections it had accepted. */
  static final long LATECOMERS_NS = 1_000_000_000L;

  private static final long ORPHAN_LIMIT_NS = 900_000_000L;

  private final Negotiator negotiator;
  private final Set<Session> sessions = new HashSet<>();

  /** Those that this side has dialled, by what they were dialled for. */
  private final Map<String, Session> dialled = new HashMap<>();

  /** Connections whose peer's session has ended, oldest first, each with its deadline. */
  private final Map<Upgradable, Long> orphans = new LinkedHashMap<>();

  /** The deadline of those that have come last. */
  private long lastDeadlineNs;

  Sessions(Negotiator negotiator) {
    this.negotiator = negotiator;
  }

  /** Takes a new session, which is heard from now on. */
  void add(Session session) throws IOException {
    session.register(negotiator.loop().selector());
    sessions.add(session);
  }

  /** Makes a session that this side has dialled the standing one, and greets the peer. */
  void begin(Session session) throws TransportException {
    dialled.put(session.dialled(), session);
    try {
      session.sayHello();
    } catch (TransportException e) {
      negotiator.reports().report(e.reason(), e.detail());
      session.close(e.reason());
      throw e;
    }
  }

  /** The session that was dialled by a name, or null. */
  Session standing(String name) {
    return dialled.get(name);
  }

  /** The listener behind a session is closed, and another process may have its port by now. */
  void leave(Session session) {
    dialled.remove(session.dialled(), session);
  }

  void ended(Session session, String name) {
    sessions.remove(session);
    if (name != null) {
      dialled.remove(name, session);
    }
    negotiator.sweeper().sweepLater();
  }

  /** Watches connections whose session has ended. */
  void orphaned(Collection<Upgradable> channels) {
    lastDeadlineNs = System.nanoTime() + ORPHAN_LIMIT_NS;
    for (Upgradable channel : channels) {
      orphans.put(channel, lastDeadlineNs);
    }
  }

  /** A channel is closed. */
  void forget(Upgradable channel) {
    for (Session session : sessions) {
      session.forget(channel);
    }
    orphans.remove(channel);
  }

  @Override
  public int tickMs(long nowNs) {
    // An old one waits for its program to read what TCP has.
    if (!orphans.isEmpty() && lastDeadlineNs - nowNs > 0) {
      return NegotiationLoop.FAST_TICK_MS;
    }
    for (Session session : sessions) {
      if (session.handshake() || session.useless(nowNs, 0)) {
        return NegotiationLoop.SLOW_TICK_MS;
      }
    }
    return orphans.isEmpty() ? NegotiationLoop.NO_TICK : NegotiationLoop.SLOW_TICK_MS;
  }

  @Override
  public void check(long nowNs) {
    NegotiationLoop loop = negotiator.loop();
    for (Session session : List.copyOf(sessions)) {
      loop.runGuarded(
          "the age of a session",
          () -> {
            session.checkHandshake(nowNs);
            if (session.useless(nowNs, LATECOMERS_NS)) {
              session.close(Reason.CLOSED_EARLY);
            }
          },
          () -> session.close(Reason.INTERNAL));
    }
    orphans.entrySet().removeIf(orphan -> over(orphan.getKey(), orphan.getValue(), nowNs));
  }

  private boolean over(Upgradable orphan, long deadlineNs, long nowNs) {
    boolean[] over = new boolean[1];
    boolean giveUp = nowNs - deadlineNs > 0;
    negotiator
        .loop()
        .runGuarded(
            "a connection whose session has ended",
            () -> over[0] = orphan.peerLost(giveUp),
            () -> over[0] = true);
    return over[0];
  }

  static void closeQuietly(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing left to do.
    }
  }
}

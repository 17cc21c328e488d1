// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.PortId;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which port is queried next, and when: each once in an interval, all together no more often than
 * the limit, and one that is silent after pauses that grow, so that it does not hold up the others.
 * For one thread at a time; times are those of {@link System#nanoTime}.
 */
final class QueryPlan {
  /** The longest pause of a silent port, unless the interval is longer. */
  static final long MAX_PAUSE_NS = 60_000_000_000L;

  /** A port that has counters of 32 and of 64 bits is queried twice. */
  private static final int MESSAGES_PER_QUERY = 2;

  private static final long NS_PER_S = 1_000_000_000L;

  private final long gapNs;
  private final Map<PortId, Turn> turns = new LinkedHashMap<>();
  private long everyNs;
  private long freeNs;

  private static final class Turn {
    private long dueNs;
    private boolean queried;

    /** When the last query ended. */
    private long queriedNs;

    private int silences;
  }

  /**
   * Plans for no ports yet.
   *
   * @param queriesPerSecond how many messages a second at most
   * @param everyNs how often each port is to be queried
   * @param nowNs the time
   */
  QueryPlan(int queriesPerSecond, long everyNs, long nowNs) {
    this.gapNs = NS_PER_S * MESSAGES_PER_QUERY / queriesPerSecond;
    this.everyNs = everyNs;
    this.freeNs = nowNs;
  }

  /** Sets how often each port is to be queried, counted from the last time. */
  void every(long ns) {
    if (ns == everyNs) {
      return;
    }
    everyNs = ns;
    for (Turn turn : turns.values()) {
      if (turn.queried) {
        turn.dueNs = turn.queriedNs + pauseNs(turn.silences);
      }
    }
  }

  /** Queries these ports from now on, new ones at once. */
  void ports(Collection<PortId> wanted, long nowNs) {
    turns.keySet().retainAll(wanted);
    for (PortId port : wanted) {
      turns.computeIfAbsent(
          port,
          p -> {
            Turn turn = new Turn();
            turn.dueNs = nowNs;
            return turn;
          });
    }
  }

  /** Returns the port whose turn is first, or null if there is none. */
  private PortId first() {
    PortId first = null;
    for (Map.Entry<PortId, Turn> entry : turns.entrySet()) {
      if (first == null || entry.getValue().dueNs - turns.get(first).dueNs < 0) {
        first = entry.getKey();
      }
    }
    return first;
  }

  /** Returns how long to wait for the next turn, 0 if it is now; the most if there is no port. */
  long waitNs(long nowNs) {
    PortId first = first();
    if (first == null) {
      return Long.MAX_VALUE;
    }
    return Math.max(0, Math.max(turns.get(first).dueNs - nowNs, freeNs - nowNs));
  }

  /** Returns whose turn it is, or null if that is later; the limit counts it as queried. */
  PortId next(long nowNs) {
    if (waitNs(nowNs) > 0) {
      return null;
    }
    freeNs = nowNs + gapNs;
    return first();
  }

  /** Says that a port has responded. */
  void responded(PortId port, long nowNs) {
    Turn turn = turns.get(port);
    if (turn != null) {
      queried(turn, 0, nowNs);
    }
  }

  /** Says that a port has not responded. */
  void silent(PortId port, long nowNs) {
    Turn turn = turns.get(port);
    if (turn != null) {
      queried(turn, turn.silences + 1, nowNs);
    }
  }

  private void queried(Turn turn, int silences, long nowNs) {
    turn.queried = true;
    turn.queriedNs = nowNs;
    turn.silences = silences;
    turn.dueNs = nowNs + pauseNs(silences);
  }

  private long pauseNs(int silences) {
    long longest = Math.max(everyNs, MAX_PAUSE_NS);
    long pause = everyNs << Math.min(silences, 16);
    return pause <= 0 ? longest : Math.min(pause, longest);
  }
}

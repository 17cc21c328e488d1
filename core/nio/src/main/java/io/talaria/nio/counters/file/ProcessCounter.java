// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

/**
 * What is counted of a process as a whole, and its place among the process values in the header of
 * the counters file. The sums of closed connections come behind: {@link Counter#closedTotal}.
 */
public enum ProcessCounter {
  /** Connections and listeners opened. */
  OPENED(0),
  /** Connections and listeners closed. */
  CLOSED(1),
  /** Upgrades asked for. */
  OFFERS_MADE(2),
  /** Upgrades asked of this process. */
  OFFERS_RECEIVED(3),
  /** Upgrades asked for and got. */
  ACCEPTED_BY_PEER(4),
  /** Upgrades granted. */
  ACCEPTED_BY_US(5),
  /** Sessions with peer processes open now. */
  SESSIONS(6),
  /** Sessions opened. */
  SESSIONS_OPENED(7),
  /** Selectors closed. */
  SELECTORS_CLOSED(8),
  /** Selects of closed selectors that returned to the program. */
  CLOSED_SELECTS(9),
  /** Looks of closed selectors into the JDK's selector. */
  CLOSED_INNER_SELECTS(10),
  /** Sleeps of closed selectors that ended. */
  CLOSED_WAKE_UPS(11),
  /** Sleepers that had news and were not rung. */
  WAKEUPS_MISSED(12),
  /** Changes when counts of what closes move to the sums here; odd while they do. */
  MOVES(13);

  private final int place;

  ProcessCounter(int place) {
    this.place = place;
  }

  /** Its place among the process values, which count 8 bytes each. */
  public int place() {
    return place;
  }

  /** What it has counted, among the process values of a header. */
  public long in(long[] process) {
    return process[place];
  }
}

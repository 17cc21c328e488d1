// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What a process has done in all: open connections and closed ones together.
 *
 * @param listeners listeners open now
 * @param connections connections open now
 * @param opened connections and listeners opened so far
 * @param closed connections and listeners closed so far
 * @param offersMade upgrades asked for
 * @param offersReceived upgrades asked of this process
 * @param acceptedByPeer upgrades asked for and got
 * @param acceptedByUs upgrades granted
 * @param refused upgrades that were not made, by reason
 * @param sessions sessions with peer processes open now
 * @param sessionsOpened sessions opened so far
 * @param selectors what the selectors did
 * @param acceleratedInBytes bytes read from transports
 * @param acceleratedOutBytes bytes written to transports
 * @param tcpInBytes bytes read from TCP
 * @param tcpOutBytes bytes written to TCP
 * @param reads reads that gave bytes
 * @param writes writes that took bytes
 * @param stalls writes that found no space
 * @param wakeupsSent doorbells rung
 * @param wakeupsReceived doorbells heard
 * @param sleeps sleeps of threads that waited for a connection
 * @param wakeupsMissed sleepers that had news and were not rung, found by a look at them
 */
public record ProcessTotals(
    long listeners,
    long connections,
    long opened,
    long closed,
    long offersMade,
    long offersReceived,
    long acceptedByPeer,
    long acceptedByUs,
    Map<Reason, Long> refused,
    long sessions,
    long sessionsOpened,
    SelectorTotals selectors,
    long acceleratedInBytes,
    long acceleratedOutBytes,
    long tcpInBytes,
    long tcpOutBytes,
    long reads,
    long writes,
    long stalls,
    long wakeupsSent,
    long wakeupsReceived,
    long sleeps,
    long wakeupsMissed) {

  /**
   * Adds up.
   *
   * @param process the process values of the header
   * @param refused the refusals by reason number
   * @param open all open connections and listeners
   * @param openSelectors the sums of all open selectors
   */
  public static ProcessTotals of(
      long[] process, long[] refused, List<ConnectionInfo> open, SelectorTotals openSelectors) {
    Map<Counter, Long> sums = new EnumMap<>(Counter.class);
    for (Counter counter : Counter.values()) {
      sums.put(counter, process[counter.closedTotal()]);
    }
    long listeners = 0;
    for (ConnectionInfo connection : open) {
      for (Counter counter : Counter.values()) {
        sums.merge(counter, counter.of(connection), Long::sum);
      }
      if (connection.role() == Role.LISTENER) {
        listeners++;
      }
    }
    Map<Reason, Long> byReason = new EnumMap<>(Reason.class);
    for (Reason reason : Reason.values()) {
      if (refused[reason.number()] != 0) {
        byReason.put(reason, refused[reason.number()]);
      }
    }
    return new ProcessTotals(
        listeners,
        open.size() - listeners,
        ProcessCounter.OPENED.in(process),
        ProcessCounter.CLOSED.in(process),
        ProcessCounter.OFFERS_MADE.in(process),
        ProcessCounter.OFFERS_RECEIVED.in(process),
        ProcessCounter.ACCEPTED_BY_PEER.in(process),
        ProcessCounter.ACCEPTED_BY_US.in(process),
        Map.copyOf(byReason),
        ProcessCounter.SESSIONS.in(process),
        ProcessCounter.SESSIONS_OPENED.in(process),
        openSelectors.withClosed(process),
        sums.get(Counter.ACCELERATED_IN),
        sums.get(Counter.ACCELERATED_OUT),
        sums.get(Counter.TCP_IN),
        sums.get(Counter.TCP_OUT),
        sums.get(Counter.READS),
        sums.get(Counter.WRITES),
        sums.get(Counter.STALLS),
        sums.get(Counter.WAKEUPS_SENT),
        sums.get(Counter.WAKEUPS_RECEIVED),
        sums.get(Counter.SLEEPS),
        ProcessCounter.WAKEUPS_MISSED.in(process));
  }
}

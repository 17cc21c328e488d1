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
 * @param refused upgrades that did not come about, by reason
 * @param sessions sessions with peer processes open now
 * @param sessionsOpened sessions opened so far
 * @param selectors what the selectors did
 * @param fabricInBytes bytes read from fabrics
 * @param fabricOutBytes bytes written to fabrics
 * @param tcpInBytes bytes read from TCP
 * @param tcpOutBytes bytes written to TCP
 * @param reads reads that gave bytes
 * @param writes writes that took bytes
 * @param stalls writes that found no space
 * @param bellsSent bells rung
 * @param bellsReceived bells heard
 * @param sleeps sleeps of threads that waited for a connection
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
    long fabricInBytes,
    long fabricOutBytes,
    long tcpInBytes,
    long tcpOutBytes,
    long reads,
    long writes,
    long stalls,
    long bellsSent,
    long bellsReceived,
    long sleeps) {

  /** How many counting fields a connection has. */
  public static final int COUNTS = 10;

  /** The counting fields of a connection in the order of its record. */
  public static long[] counts(ConnectionInfo of) {
    return new long[] {
      of.fabricInBytes(),
      of.tcpInBytes(),
      of.reads(),
      of.bellsReceived(),
      of.sleeps(),
      of.fabricOutBytes(),
      of.tcpOutBytes(),
      of.writes(),
      of.stalls(),
      of.bellsSent()
    };
  }

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
    long[] sums = new long[COUNTS];
    for (int i = 0; i < COUNTS; i++) {
      sums[i] = process[CountersLayout.PROCESS_CLOSED_TOTALS + i];
    }
    long listeners = 0;
    for (ConnectionInfo connection : open) {
      long[] counts = counts(connection);
      for (int i = 0; i < COUNTS; i++) {
        sums[i] += counts[i];
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
        process[CountersLayout.PROCESS_OPENED],
        process[CountersLayout.PROCESS_CLOSED],
        process[CountersLayout.PROCESS_OFFERS_MADE],
        process[CountersLayout.PROCESS_OFFERS_RECEIVED],
        process[CountersLayout.PROCESS_ACCEPTED_BY_PEER],
        process[CountersLayout.PROCESS_ACCEPTED_BY_US],
        Map.copyOf(byReason),
        process[CountersLayout.PROCESS_SESSIONS],
        process[CountersLayout.PROCESS_SESSIONS_OPENED],
        openSelectors.withClosed(process),
        sums[0],
        sums[5],
        sums[1],
        sums[6],
        sums[2],
        sums[7],
        sums[8],
        sums[9],
        sums[3],
        sums[4]);
  }
}

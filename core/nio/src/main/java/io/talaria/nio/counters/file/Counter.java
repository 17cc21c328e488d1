// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

import io.talaria.nio.ConnectionInfo;
import java.nio.ByteBuffer;

/**
 * What is counted of a connection: its place in a record of the counters file, and its place among
 * the sums of closed connections in the header. What the reading thread counts comes first, then,
 * on a cache line of its own, what the writing thread counts.
 */
public enum Counter {
  /** Bytes read from the transport. */
  ACCELERATED_IN(128, 0),
  /** Bytes read from TCP. */
  TCP_IN(136, 1),
  /** Reads that gave bytes. */
  READS(144, 2),
  /** Doorbells heard. */
  WAKEUPS_RECEIVED(152, 3),
  /** Sleeps of threads that waited for the connection. */
  SLEEPS(160, 4),
  /** Bytes written to the transport. */
  ACCELERATED_OUT(192, 5),
  /** Bytes written to TCP. */
  TCP_OUT(200, 6),
  /** Writes that took bytes. */
  WRITES(208, 7),
  /** Writes that found no space. */
  STALLS(216, 8),
  /** Doorbells rung. */
  WAKEUPS_SENT(224, 9);

  private final int place;
  private final int total;

  Counter(int place, int total) {
    this.place = place;
    this.total = total;
  }

  /** Where it is in a record, in bytes. */
  public int place() {
    return place;
  }

  /** What it has counted in a record. */
  public long in(ByteBuffer record) {
    return record.getLong(place);
  }

  /** What it has counted of a connection. */
  public long of(ConnectionInfo connection) {
    return switch (this) {
      case ACCELERATED_IN -> connection.acceleratedInBytes();
      case TCP_IN -> connection.tcpInBytes();
      case READS -> connection.reads();
      case WAKEUPS_RECEIVED -> connection.wakeupsReceived();
      case SLEEPS -> connection.sleeps();
      case ACCELERATED_OUT -> connection.acceleratedOutBytes();
      case TCP_OUT -> connection.tcpOutBytes();
      case WRITES -> connection.writes();
      case STALLS -> connection.stalls();
      case WAKEUPS_SENT -> connection.wakeupsSent();
    };
  }

  /** Its sum of closed connections, among the process values of the header. */
  public int closedTotal() {
    return CountersLayout.PROCESS_CLOSED_TOTALS + total;
  }
}

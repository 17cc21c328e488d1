// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

/**
 * The fields of {@link ConnectionCounters}, one class after the other so that the JVM lays them out
 * in this order: what both directions read, what the reading thread writes, what the writing thread
 * writes, each on cache lines of its own.
 */
final class ConnectionFields {
  private ConnectionFields() {}

  abstract static class Gap0 extends CounterRecord {
    long g00;
    long g01;
    long g02;
    long g03;
    long g04;
    long g05;
    long g06;
    long g07;

    Gap0(ProcessCounters owner, long id, long openedAtMs) {
      super(owner, id, openedAtMs);
    }
  }

  /** Written by the thread that reads from the connection. */
  abstract static class Reads extends Gap0 {
    long reads;
    long acceleratedInBytes;
    long tcpInBytes;
    long wakeupsReceived;
    long sleeps;

    Reads(ProcessCounters owner, long id, long openedAtMs) {
      super(owner, id, openedAtMs);
    }
  }

  abstract static class Gap1 extends Reads {
    long g10;
    long g11;
    long g12;
    long g13;
    long g14;
    long g15;
    long g16;
    long g17;

    Gap1(ProcessCounters owner, long id, long openedAtMs) {
      super(owner, id, openedAtMs);
    }
  }

  /** Written by the thread that writes to the connection. */
  abstract static class Writes extends Gap1 {
    long writes;
    long acceleratedOutBytes;
    long tcpOutBytes;
    long stalls;
    long wakeupsSent;

    Writes(ProcessCounters owner, long id, long openedAtMs) {
      super(owner, id, openedAtMs);
    }
  }

  abstract static class Gap2 extends Writes {
    long g20;
    long g21;
    long g22;
    long g23;
    long g24;
    long g25;
    long g26;
    long g27;

    Gap2(ProcessCounters owner, long id, long openedAtMs) {
      super(owner, id, openedAtMs);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

/** Makes Flight Recorder events, where the JVM has a Flight Recorder and it is in use. */
final class FlightRecorderEvents {
  private FlightRecorderEvents() {}

  static void decided(ConnectionCounters connection) {}

  static void closed(ConnectionCounters connection) {}
}

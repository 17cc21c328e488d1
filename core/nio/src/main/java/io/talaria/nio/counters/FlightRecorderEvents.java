// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.privileged.Privileged;
import jdk.jfr.FlightRecorder;

/** Makes Flight Recorder events, where the JVM has a Flight Recorder and it is in use. */
final class FlightRecorderEvents {
  /** Whether the JVM has a Flight Recorder; only ever turns from true to false. */
  private static volatile boolean present = true;

  private FlightRecorderEvents() {}

  /** A connection has a new transport or reason. */
  static void decided(ConnectionCounters connection) {
    if (present) {
      try {
        Privileged.run(() -> Recorder.decided(connection));
      } catch (LinkageError e) {
        present = false;
      }
    }
  }

  /** A connection has ended. */
  static void closed(ConnectionCounters connection) {
    if (present) {
      try {
        Privileged.run(() -> Recorder.closed(connection));
      } catch (LinkageError e) {
        present = false;
      }
    }
  }

  /** Apart, so that the outer class can be loaded without Flight Recorder. */
  private static final class Recorder {
    private Recorder() {}

    static void decided(ConnectionCounters connection) {
      if (FlightRecorder.isInitialized()) {
        ConnectionDecidedEvent event = new ConnectionDecidedEvent();
        if (event.isEnabled()) {
          event.describe(connection.info());
          event.commit();
        }
      }
    }

    static void closed(ConnectionCounters connection) {
      if (FlightRecorder.isInitialized()) {
        ConnectionClosedEvent event = new ConnectionClosedEvent();
        if (event.isEnabled()) {
          ConnectionInfo info = connection.info();
          event.describe(info);
          event.count(info);
          event.commit();
        }
      }
    }
  }
}

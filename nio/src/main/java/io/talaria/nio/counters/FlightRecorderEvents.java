// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.ConnectionInfo;
import java.net.InetSocketAddress;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Makes Flight Recorder events, where the JVM has a Flight Recorder and it is in use. */
final class FlightRecorderEvents {
  /** Whether the JVM has a Flight Recorder; only ever turns from true to false. */
  private static volatile boolean present = true;

  private FlightRecorderEvents() {}

  /** A connection has a new mode or reason. */
  static void decided(ConnectionCounters connection) {
    if (present) {
      try {
        Recorder.decided(connection);
      } catch (LinkageError e) {
        present = false;
      }
    }
  }

  /** A connection has ended. */
  static void closed(ConnectionCounters connection) {
    if (present) {
      try {
        Recorder.closed(connection);
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
        DecidedEvent event = new DecidedEvent();
        if (event.isEnabled()) {
          event.describe(connection.info());
          event.commit();
        }
      }
    }

    static void closed(ConnectionCounters connection) {
      if (FlightRecorder.isInitialized()) {
        ClosedEvent event = new ClosedEvent();
        if (event.isEnabled()) {
          ConnectionInfo info = connection.info();
          event.describe(info);
          event.count(info);
          event.commit();
        }
      }
    }
  }

  @Category("Talaria")
  @StackTrace(false)
  private abstract static class ConnectionEvent extends Event {
    @Label("Connection Id")
    @Description("A number of its own within the process")
    long connectionId;

    @Label("Role")
    String role;

    @Label("Mode")
    String mode;

    @Label("Reason")
    String reason;

    @Label("Transport")
    String transport;

    @Label("Local Address")
    String localAddress;

    @Label("Remote Address")
    String remoteAddress;

    final void describe(ConnectionInfo info) {
      connectionId = info.id();
      role = info.role().code();
      mode = info.mode().code();
      reason = info.reason().code();
      transport = info.transport();
      localAddress = text(info.local());
      remoteAddress = text(info.remote());
    }

    private static String text(InetSocketAddress address) {
      return address == null ? "" : address.toString();
    }
  }

  @Name("io.talaria.ConnectionDecided")
  @Label("Connection Decided")
  @Description("A connection or listener has a new mode or reason")
  private static final class DecidedEvent extends ConnectionEvent {}

  @Name("io.talaria.ConnectionClosed")
  @Label("Connection Closed")
  @Description("A connection or listener has ended")
  private static final class ClosedEvent extends ConnectionEvent {
    @Label("Age")
    @Timespan(Timespan.MILLISECONDS)
    long age;

    @Label("Read from Fabric")
    @DataAmount
    long fabricIn;

    @Label("Written to Fabric")
    @DataAmount
    long fabricOut;

    @Label("Read from TCP")
    @DataAmount
    long tcpIn;

    @Label("Written to TCP")
    @DataAmount
    long tcpOut;

    @Label("Reads")
    long reads;

    @Label("Writes")
    long writes;

    @Label("Stalls")
    long stalls;

    @Label("Bells Sent")
    long bellsSent;

    @Label("Bells Received")
    long bellsReceived;

    @Label("Sleeps")
    long sleeps;

    void count(ConnectionInfo info) {
      age = System.currentTimeMillis() - info.openedAtMs();
      fabricIn = info.fabricInBytes();
      fabricOut = info.fabricOutBytes();
      tcpIn = info.tcpInBytes();
      tcpOut = info.tcpOutBytes();
      reads = info.reads();
      writes = info.writes();
      stalls = info.stalls();
      bellsSent = info.bellsSent();
      bellsReceived = info.bellsReceived();
      sleeps = info.sleeps();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.ConnectionInfo;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;

/** A connection or listener has ended. */
@Name("io.talaria.ConnectionClosed")
@Label("Connection Closed")
@Description("A connection or listener has ended")
final class ConnectionClosedEvent extends ConnectionEvent {
  @Label("Age")
  @Timespan(Timespan.MILLISECONDS)
  long age;

  @Label("Read by the transport")
  @DataAmount
  long acceleratedIn;

  @Label("Written by the transport")
  @DataAmount
  long acceleratedOut;

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

  @Label("Doorbells Sent")
  long wakeupsSent;

  @Label("Doorbells Received")
  long wakeupsReceived;

  @Label("Sleeps")
  long sleeps;

  void count(ConnectionInfo info) {
    age = System.currentTimeMillis() - info.openedAtMs();
    acceleratedIn = info.acceleratedInBytes();
    acceleratedOut = info.acceleratedOutBytes();
    tcpIn = info.tcpInBytes();
    tcpOut = info.tcpOutBytes();
    reads = info.reads();
    writes = info.writes();
    stalls = info.stalls();
    wakeupsSent = info.wakeupsSent();
    wakeupsReceived = info.wakeupsReceived();
    sleeps = info.sleeps();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.ConnectionInfo;
import java.net.InetSocketAddress;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.StackTrace;

/** What the Flight Recorder's events of a connection have in common. */
@Category("Talaria")
@StackTrace(false)
abstract class ConnectionEvent extends Event {
  @Label("Connection Id")
  @Description("A number of its own within the process")
  long connectionId;

  @Label("Role")
  String role;

  @Label("Transport")
  String transport;

  @Label("Reason")
  String reason;

  @Label("Detail")
  String detail;

  @Label("Local Address")
  String localAddress;

  @Label("Remote Address")
  String remoteAddress;

  final void describe(ConnectionInfo info) {
    connectionId = info.id();
    role = info.role().code();
    transport = info.transport().code();
    reason = info.reason().code();
    detail = info.detail();
    localAddress = text(info.local());
    remoteAddress = text(info.remote());
  }

  private static String text(InetSocketAddress address) {
    return address == null ? "" : address.toString();
  }
}

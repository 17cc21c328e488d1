// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import java.net.InetSocketAddress;

/** A {@link ConnectionInfo} in the form that JMX can carry. */
public final class ConnectionView {
  private final ConnectionInfo info;

  ConnectionView(ConnectionInfo info) {
    this.info = info;
  }

  /**
   * A number of its own within the process.
   *
   * @return the value
   */
  public long getId() {
    return info.id();
  }

  /**
   * The code of its role.
   *
   * @return the value
   */
  public String getRole() {
    return info.role().code();
  }

  /**
   * The code of its transport.
   *
   * @return the value
   */
  public String getTransport() {
    return info.transport().code();
  }

  /**
   * The code of the reason.
   *
   * @return the value
   */
  public String getReason() {
    return info.reason().code();
  }

  /**
   * Details of the transport for people, or empty.
   *
   * @return the value
   */
  public String getDetail() {
    return info.detail();
  }

  /**
   * The local address, or empty.
   *
   * @return the value
   */
  public String getLocalAddress() {
    return text(info.local());
  }

  /**
   * The remote address, or empty.
   *
   * @return the value
   */
  public String getRemoteAddress() {
    return text(info.remote());
  }

  /**
   * When it was opened, milliseconds since 1970.
   *
   * @return the value
   */
  public long getOpenedAtMs() {
    return info.openedAtMs();
  }

  /**
   * Bytes read from the transport.
   *
   * @return the value
   */
  public long getAcceleratedInBytes() {
    return info.acceleratedInBytes();
  }

  /**
   * Bytes written to the transport.
   *
   * @return the value
   */
  public long getAcceleratedOutBytes() {
    return info.acceleratedOutBytes();
  }

  /**
   * Bytes read from TCP.
   *
   * @return the value
   */
  public long getTcpInBytes() {
    return info.tcpInBytes();
  }

  /**
   * Bytes written to TCP.
   *
   * @return the value
   */
  public long getTcpOutBytes() {
    return info.tcpOutBytes();
  }

  /**
   * Reads that gave bytes.
   *
   * @return the value
   */
  public long getReads() {
    return info.reads();
  }

  /**
   * Writes that took bytes.
   *
   * @return the value
   */
  public long getWrites() {
    return info.writes();
  }

  /**
   * Writes that found no space.
   *
   * @return the value
   */
  public long getStalls() {
    return info.stalls();
  }

  /**
   * Doorbells rung.
   *
   * @return the value
   */
  public long getWakeupsSent() {
    return info.wakeupsSent();
  }

  /**
   * Doorbells heard.
   *
   * @return the value
   */
  public long getWakeupsReceived() {
    return info.wakeupsReceived();
  }

  /**
   * Sleeps of threads that waited for it.
   *
   * @return the value
   */
  public long getSleeps() {
    return info.sleeps();
  }

  /**
   * Capacity of the incoming ring, or 0.
   *
   * @return the value
   */
  public int getRingInBytes() {
    return info.ringInBytes();
  }

  /**
   * Capacity of the outgoing ring, or 0.
   *
   * @return the value
   */
  public int getRingOutBytes() {
    return info.ringOutBytes();
  }

  private static String text(InetSocketAddress address) {
    return address == null ? "" : address.toString();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.process.ProcNet;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.util.Collections;

/**
 * One side's end of the Ethernet segment on which both addresses of a connection are, as the kernel
 * shows it to a process of that network namespace. The two ends are of one segment if each has the
 * hardware address that the other has for its neighbour.
 *
 * @param own the hardware address of the interface that has the connection's own address, 48 bits
 * @param neighbour the one to which the kernel sends what is for the peer's address
 */
record SegmentEnd(long own, long neighbour) {
  private static final int HARDWARE_BYTES = 6;

  /**
   * Looks at this side's end. Does file work.
   *
   * @throws TransportException with {@link Reason#NOT_DIRECT} if the peer's address is not on a
   *     segment of this namespace
   */
  static SegmentEnd look(InetAddress own, InetAddress peer) throws TransportException {
    try {
      return look((Inet4Address) own, (Inet4Address) peer);
    } catch (IOException e) {
      throw indirect("what /proc/net or an interface says cannot be read: " + e);
    }
  }

  private static SegmentEnd look(Inet4Address own, Inet4Address peer)
      throws IOException, TransportException {
    if (!ProcNet.hasOneTable()) {
      throw indirect("this network namespace has more than one table of routes");
    }
    NetworkInterface at = interfaceOf(own, peer);
    String device = ProcNet.device(peer);
    if (!at.getName().equals(device)) {
      throw indirect(
          peer.getHostAddress()
              + (device == null
                  ? " is behind a gateway, or has more than one route"
                  : " is reached by " + device + ", and not by " + at.getName()));
    }
    long hardware = hardwareAddress(at);
    long neighbour = ProcNet.neighbour(peer, device);
    if (hardware <= 0 || neighbour <= 0 || hardware == neighbour) {
      throw indirect(peer.getHostAddress() + " is no neighbour on an Ethernet interface");
    }
    return new SegmentEnd(hardware, neighbour);
  }

  /** The one interface with an address; the other address must be on none. */
  private static NetworkInterface interfaceOf(Inet4Address own, Inet4Address peer)
      throws IOException, TransportException {
    NetworkInterface found = null;
    for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      for (InetAddress address : Collections.list(each.getInetAddresses())) {
        if (address.equals(peer)) {
          throw indirect(peer.getHostAddress() + " is also an address of this namespace");
        }
        if (address.equals(own)) {
          if (found != null) {
            throw indirect(own.getHostAddress() + " is on more than one interface");
          }
          found = each;
        }
      }
    }
    if (found == null || found.isLoopback() || found.isPointToPoint()) {
      throw indirect(own.getHostAddress() + " is on no Ethernet interface");
    }
    return found;
  }

  private static long hardwareAddress(NetworkInterface of) throws IOException {
    byte[] bytes = of.getHardwareAddress();
    if (bytes == null || bytes.length != HARDWARE_BYTES) {
      return ProcNet.NO_HARDWARE_ADDRESS;
    }
    return ByteBuffer.allocate(Long.BYTES)
        .position(Long.BYTES - HARDWARE_BYTES)
        .put(bytes)
        .getLong(0);
  }

  static TransportException indirect(String why) {
    return new TransportException(Reason.NOT_DIRECT, why);
  }

  /** Whether the other side's end is of the same segment. */
  boolean joins(SegmentEnd other) {
    return own == other.neighbour && neighbour == other.own;
  }
}

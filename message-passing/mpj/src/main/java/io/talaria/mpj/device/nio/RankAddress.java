// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.nio;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Where a rank listens, as one line that others are given: a port, and addresses to try. */
final class RankAddress {
  private static final int MAX_ADDRESSES = 16;

  private RankAddress() {}

  /**
   * Writes one.
   *
   * @param port where it listens
   * @param addresses of its host
   */
  static String write(int port, List<InetAddress> addresses) {
    StringBuilder line = new StringBuilder().append(port);
    for (InetAddress address : addresses) {
      // Without the interface's name, which means nothing elsewhere.
      line.append(' ').append(address.getHostAddress().replaceFirst("%.*", ""));
    }
    return line.toString();
  }

  /**
   * Reads one.
   *
   * @param line of {@link #write}
   * @throws IllegalArgumentException if it is none
   */
  static List<InetSocketAddress> read(String line) {
    String[] words = line.trim().split(" ");
    List<InetSocketAddress> addresses = new ArrayList<>();
    try {
      int port = Integer.parseInt(words[0]);
      for (int i = 1; i < words.length && i <= MAX_ADDRESSES; i++) {
        addresses.add(new InetSocketAddress(InetAddress.ofLiteral(words[i]), port));
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("a rank address that cannot be read: " + line, e);
    }
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException("a rank without an address: " + line);
    }
    return addresses;
  }

  /**
   * The addresses of this host that other hosts may reach, IPv4 first.
   *
   * @param network such as 10.1.0.0/16, or null for any but loopback's
   * @throws SocketException if the interfaces cannot be read
   */
  static List<InetAddress> ofThisHost(String network) throws SocketException {
    List<InetAddress> found = new ArrayList<>();
    for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      if (each.isUp() && (network != null || !each.isLoopback())) {
        for (InetAddress address : Collections.list(each.getInetAddresses())) {
          if (!address.isLinkLocalAddress()
              && (network == null || Network.holds(network, address))) {
            found.add(address);
          }
        }
      }
    }
    found.sort(
        (a, b) -> Boolean.compare(!(a instanceof Inet4Address), !(b instanceof Inet4Address)));
    return found.subList(0, Math.min(found.size(), MAX_ADDRESSES));
  }

  /** The loopback address: all ranks are on this host. */
  static List<InetAddress> ofLoopback() {
    try {
      return List.of(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The counters of what goes over the wire: those of the network interface towards a host, and those
 * of all InfiniBand ports. They count what every program sends there. Any thread may use it.
 */
public final class WireCounters {
  /** InfiniBand counts in units of four bytes. */
  private static final int UNIT_BYTES = 4;

  private static final int ANY_PORT = 9;

  private final Path sys;
  private final String networkInterface;

  /**
   * Reads counters below a folder.
   *
   * @param sys {@code /sys}, or a test's
   * @param networkInterface the name of the interface; empty if unknown
   */
  WireCounters(Path sys, String networkInterface) {
    this.sys = sys;
    this.networkInterface = networkInterface;
  }

  /**
   * Finds the counters on the way to a host.
   *
   * @param host its name or address
   */
  public static WireCounters towards(String host) {
    String name = "";
    try (DatagramSocket probe = new DatagramSocket()) {
      probe.connect(new InetSocketAddress(host, ANY_PORT)); // sends nothing
      NetworkInterface found = NetworkInterface.getByInetAddress(probe.getLocalAddress());
      name = found == null ? "" : found.getName();
    } catch (IOException | UncheckedIOException e) {
      // No interface is known.
    }
    return new WireCounters(Path.of("/sys"), name);
  }

  /**
   * What counters have counted.
   *
   * @param interfaceBytes of the network interface, both ways; negative if unknown
   * @param infinibandBytes of all InfiniBand ports, both ways; negative if there are none
   */
  public record Reading(long interfaceBytes, long infinibandBytes) {
    /** Nothing is known. */
    public static final Reading NONE = new Reading(-1, -1);

    /**
     * Returns what was counted between two readings.
     *
     * @param before the earlier one
     */
    public Reading since(Reading before) {
      return new Reading(
          difference(interfaceBytes, before.interfaceBytes),
          difference(infinibandBytes, before.infinibandBytes));
    }

    private static long difference(long after, long before) {
      return after < 0 || before < 0 ? -1 : after - before;
    }
  }

  /** Reads the counters. */
  public Reading read() {
    Path statistics =
        sys.resolve("class").resolve("net").resolve(networkInterface).resolve("statistics");
    long received = number(statistics.resolve("rx_bytes"));
    long sent = number(statistics.resolve("tx_bytes"));
    long carried =
        networkInterface.isEmpty() || received < 0 || sent < 0
            ? -1
            // What loops back is counted as sent and as received.
            : networkInterface.equals("lo") ? sent : received + sent;
    return new Reading(carried, infiniband());
  }

  private long infiniband() {
    long sum = -1;
    try (DirectoryStream<Path> devices =
        Files.newDirectoryStream(sys.resolve("class").resolve("infiniband"))) {
      for (Path device : devices) {
        try (DirectoryStream<Path> ports = Files.newDirectoryStream(device.resolve("ports"))) {
          for (Path port : ports) {
            long sent = number(port.resolve("counters").resolve("port_xmit_data"));
            long received = number(port.resolve("counters").resolve("port_rcv_data"));
            if (sent >= 0 && received >= 0) {
              sum = Math.max(sum, 0) + (sent + received) * UNIT_BYTES;
            }
          }
        }
      }
    } catch (IOException e) {
      return sum;
    }
    return sum;
  }

  private static long number(Path file) {
    try {
      return Long.parseLong(Files.readString(file).strip());
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
  }
}

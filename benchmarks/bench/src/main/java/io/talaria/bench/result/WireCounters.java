// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.monitor.Change;
import io.talaria.monitor.CounterKind;
import io.talaria.monitor.LinkLayer;
import io.talaria.monitor.LocalPorts;
import io.talaria.monitor.PortId;
import io.talaria.monitor.Rates;
import io.talaria.monitor.Reading;
import io.talaria.monitor.Traffic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The counters of what goes over the wire: those of the network interface towards a host, and those
 * of all RDMA ports that count bytes. They count what every program sends there. Any thread may use
 * it.
 */
public final class WireCounters {
  private static final int ANY_PORT = 9;
  private static final String LOOPBACK = "lo";

  /** Guarded by this. */
  private final LocalPorts ports;

  private final String networkInterface;

  /**
   * Reads counters below a folder.
   *
   * @param sys {@code /sys}, or a test's
   * @param networkInterface the name of the interface; empty if unknown
   */
  WireCounters(Path sys, String networkInterface) {
    ports = LocalPorts.below(sys);
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
   * What was counted between two looks.
   *
   * @param interfaceBytes of the network interface, both ways; negative if unknown
   * @param infinibandBytes of all RDMA ports that count bytes, both ways; negative if there are
   *     none, or one of them was reset meanwhile or no longer counts
   */
  public record Carried(long interfaceBytes, long infinibandBytes) {
    /** Nothing is known. */
    public static final Carried NONE = new Carried(-1, -1);
  }

  /** The counters at one moment. */
  public static final class Look {
    private final String networkInterface;
    private final List<Reading> readings;

    private Look(String networkInterface, List<Reading> readings) {
      this.networkInterface = networkInterface;
      this.readings = readings;
    }

    /**
     * Returns what was counted between two looks.
     *
     * @param before the earlier one
     */
    public Carried since(Look before) {
      long carried = -1;
      List<Long> rdma = new ArrayList<>();
      for (Reading now : readings) {
        PortId id = now.port().id();
        boolean ethernet = now.port().layer() == LinkLayer.ETHERNET;
        if (ethernet && !id.device().equals(networkInterface)) {
          continue;
        }
        long bytes = bytes(before, now, id);
        if (ethernet) {
          carried = bytes;
        } else if (now.indexOf(CounterKind.DATA, Traffic.SENT) >= 0) {
          rdma.add(bytes);
        }
      }
      boolean known = !rdma.isEmpty() && rdma.stream().allMatch(bytes -> bytes >= 0);
      return new Carried(carried, known ? rdma.stream().mapToLong(Long::longValue).sum() : -1);
    }

    private static long bytes(Look before, Reading now, PortId id) {
      for (Reading earlier : before.readings) {
        if (earlier.port().id().equals(id)) {
          Rates rates = Rates.between(earlier, now, null);
          long sent = bytes(rates, Traffic.SENT);
          long received = bytes(rates, Traffic.RECEIVED);
          if (id.device().equals(LOOPBACK)) {
            return sent; // what loops back is counted as sent and as received
          }
          return sent < 0 || received < 0 ? -1 : sent + received;
        }
      }
      return -1;
    }

    private static long bytes(Rates rates, Traffic traffic) {
      int index = rates.reading().indexOf(CounterKind.DATA, traffic);
      return index < 0 || rates.change(index) != Change.COUNTED ? -1 : (long) rates.amount(index);
    }
  }

  /** Reads the counters. */
  public synchronized Look read() {
    return new Look(networkInterface, ports.read());
  }
}

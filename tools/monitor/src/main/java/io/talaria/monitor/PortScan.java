// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import io.talaria.monitor.sysfs.CounterFile;
import io.talaria.monitor.sysfs.SysText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Looks through {@code class/infiniband} and {@code class/net}. */
final class PortScan {
  private static final String ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";
  private static final String LINK_LOCAL = "fe80:";
  private static final String LIFESPAN = "lifespan";

  /** As many places of a GID table are looked at; tables have up to 256. */
  private static final int MAX_GIDS = 32;

  private static final int LOOPBACK_TYPE = 772; // ARPHRD_LOOPBACK
  private static final long NS_PER_MS = 1_000_000;
  private static final long MAX_LIFESPAN_MS = 60_000;

  private final Path sys;

  PortScan(Path sys) {
    this.sys = sys;
  }

  /**
   * A directory with counters.
   *
   * @param kind which
   * @param directory where
   * @param names the files that hold numbers
   * @param lifespanNs how long the kernel gives the same values before it reads the device again
   */
  record Source(CounterSource kind, Path directory, List<String> names, long lifespanNs) {}

  /**
   * A port, and where its counters are.
   *
   * @param port the port
   * @param sources the directories that it has
   */
  record Found(Port port, List<Source> sources) {}

  List<Found> all() {
    List<Found> found = new ArrayList<>();
    for (Path device : SysText.entries(sys.resolve("class/infiniband"))) {
      List<Path> ports = SysText.entries(device.resolve("ports"));
      for (Path port : ports) {
        String number = name(port);
        if (number.matches("[1-9]\\d{0,3}")) {
          found.add(rdma(device, port, Integer.parseInt(number), ports.size() == 1));
        }
      }
    }
    for (Path entry : SysText.entries(sys.resolve("class/net"))) {
      // Beside interfaces there is a file of the bonding driver.
      if (Files.isDirectory(entry)) {
        found.add(netInterface(entry));
      }
    }
    return found;
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  private static Found rdma(Path device, Path port, int number, boolean onlyPort) {
    LinkLayer layer = layer(device, port);
    List<String> netDevices = netDevices(device, port, onlyPort);
    String physical = SysText.read(port.resolve("phys_state"));
    long lid = layer == LinkLayer.INFINIBAND ? SysText.number(port.resolve("lid"), 0) : 0;
    List<Source> sources = new ArrayList<>();
    add(sources, CounterSource.COUNTERS, port.resolve("counters"));
    add(sources, CounterSource.COUNTERS_EXT, port.resolve("counters_ext"));
    add(sources, CounterSource.HW_COUNTERS, port.resolve("hw_counters"));
    add(sources, CounterSource.DEVICE, device.resolve("hw_counters"));
    return new Found(
        new Port(
            PortId.local(Harmless.text(name(device)), number),
            layer,
            PortState.ofRdma(SysText.read(port.resolve("state"))),
            Harmless.text(physical.substring(physical.indexOf(':') + 1)),
            lid < 0 || lid > 0xffff ? 0 : (int) lid,
            LinkRate.ofRdma(SysText.read(port.resolve("rate"))),
            Harmless.text(SysText.read(device.resolve("node_guid"))),
            gid(port, layer),
            netDevices,
            false),
        List.copyOf(sources));
  }

  private static LinkLayer layer(Path device, Path port) {
    // As in "4: RNIC", which is iWARP.
    if (SysText.read(device.resolve("node_type")).contains("RNIC")) {
      return LinkLayer.IWARP;
    }
    return switch (SysText.read(port.resolve("link_layer"))) {
      case "InfiniBand" -> LinkLayer.INFINIBAND;
      case "Ethernet" -> LinkLayer.ROCE;
      default -> LinkLayer.OTHER;
    };
  }

  private static List<String> netDevices(Path device, Path port, boolean onlyPort) {
    TreeSet<String> names = new TreeSet<>();
    Path table = port.resolve("gid_attrs/ndevs");
    for (int i = 0; i < MAX_GIDS && Files.isDirectory(table); i++) {
      String name = SysText.read(table.resolve(Integer.toString(i)));
      if (!name.isEmpty()) {
        names.add(Harmless.text(name));
      }
    }
    if (names.isEmpty() && onlyPort) {
      SysText.entries(device.resolve("device/net")).forEach(e -> names.add(Harmless.text(name(e))));
    }
    return List.copyOf(names);
  }

  /** The first that is set; of a RoCE port rather one of version 2, and one with an address. */
  private static String gid(Path port, LinkLayer layer) {
    String best = "";
    int bestRank = -1;
    Path table = port.resolve("gids");
    for (int i = 0; i < MAX_GIDS && Files.isDirectory(table); i++) {
      String gid = SysText.read(table.resolve(Integer.toString(i)));
      if (gid.isEmpty() || gid.equals(ZERO_GID) || !gid.matches("[0-9a-fA-F:]{39}")) {
        continue;
      }
      if (layer != LinkLayer.ROCE) {
        return gid;
      }
      int rank =
          (SysText.read(port.resolve("gid_attrs/types/" + i)).equals("RoCE v2") ? 2 : 0)
              + (gid.startsWith(LINK_LOCAL) ? 0 : 1);
      if (rank > bestRank) {
        bestRank = rank;
        best = gid;
      }
    }
    return best;
  }

  private static Found netInterface(Path entry) {
    PortState state = PortState.ofInterface(SysText.read(entry.resolve("operstate")));
    boolean loopback = SysText.number(entry.resolve("type"), 0) == LOOPBACK_TYPE;
    boolean hasDevice = Files.exists(entry.resolve("device"));
    List<Source> sources = new ArrayList<>();
    add(sources, CounterSource.NET, entry.resolve("statistics"));
    return new Found(
        new Port(
            PortId.local(Harmless.text(name(entry)), 0),
            LinkLayer.ETHERNET,
            state,
            carrier(SysText.read(entry.resolve("carrier"))),
            0,
            LinkRate.ofInterface(SysText.number(entry.resolve("speed"), -1)),
            Harmless.text(SysText.read(entry.resolve("address"))),
            "",
            List.of(),
            loopback || (!hasDevice && (state == PortState.UNKNOWN || isUnused(entry, state)))),
        List.copyOf(sources));
  }

  /** Down, and nothing ever went through: modules of the kernel make such interfaces by the way. */
  private static boolean isUnused(Path entry, PortState state) {
    Path statistics = entry.resolve("statistics");
    return state != PortState.ACTIVE
        && SysText.number(statistics.resolve("rx_bytes"), 0) == 0
        && SysText.number(statistics.resolve("tx_bytes"), 0) == 0;
  }

  private static String carrier(String text) {
    return switch (text) {
      case "1" -> "LinkUp";
      case "0" -> "NoCarrier";
      default -> "";
    };
  }

  /** Adds a directory with those of its files that hold numbers now. */
  private static void add(List<Source> sources, CounterSource kind, Path directory) {
    List<String> names = new ArrayList<>();
    long lifespanMs = 0;
    CounterFile.Budget none = new CounterFile.Budget(0);
    for (Path file : SysText.entries(directory)) {
      String name = name(file);
      if (name.equals(LIFESPAN)) {
        lifespanMs = Math.min(Math.max(0, SysText.number(file, 0)), MAX_LIFESPAN_MS);
      } else if (isName(name)) {
        try (CounterFile number = new CounterFile(file, none)) {
          if (number.read()) {
            names.add(name);
          }
        }
      }
    }
    if (!names.isEmpty()) {
      names.sort(null);
      sources.add(new Source(kind, directory, List.copyOf(names), lifespanMs * NS_PER_MS));
    }
  }

  private static boolean isName(String name) {
    return name.matches("[A-Za-z0-9_.-]{1,100}");
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import io.talaria.monitor.sysfs.CounterFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The ports of this host: those of RDMA devices, and network interfaces. A RoCE port and its
 * network interface are two ports, whose counters are never added up.
 *
 * <p>For one thread at a time; the caller that opened it closes it, which gives back some hundred
 * descriptors. Nothing here fails: what cannot be read is not there.
 */
public final class LocalPorts implements AutoCloseable {
  /** After how long a reading looks for new ports, and for what changed about the old. */
  public static final long SCAN_EVERY_NS = 5_000_000_000L;

  private static final int MAX_OPEN_FILES = 512;

  private final PortScan scan;
  private final CounterFile.Budget budget = new CounterFile.Budget(MAX_OPEN_FILES);
  private List<PortReader> readers = List.of();
  private long scannedNs;
  private boolean scanned;

  private LocalPorts(Path sys) {
    scan = new PortScan(sys);
  }

  /**
   * The ports of this host.
   *
   * @return not yet looked for
   */
  public static LocalPorts open() {
    return below(Path.of("/sys"));
  }

  /**
   * The ports of a host whose {@code /sys} is elsewhere, such as that of a container's host.
   *
   * @param sys what stands for {@code /sys}
   * @return not yet looked for
   */
  public static LocalPorts below(Path sys) {
    return new LocalPorts(sys);
  }

  /**
   * Looks for ports now.
   *
   * @return all of them, in the order of their names, RDMA devices first
   */
  public List<Port> scan() {
    List<PortScan.Found> found = new ArrayList<>(scan.all());
    found.sort(
        Comparator.comparing((PortScan.Found one) -> one.port().layer() == LinkLayer.ETHERNET)
            .thenComparing(one -> one.port().id()));
    List<PortReader> next = new ArrayList<>(found.size());
    List<PortReader> old = new ArrayList<>(readers);
    for (PortScan.Found one : found) {
      PortReader kept = null;
      for (PortReader reader : old) {
        if (reader.reads(one)) {
          kept = reader;
          break;
        }
      }
      if (kept == null) {
        next.add(new PortReader(one, budget));
      } else {
        old.remove(kept);
        kept.update(one.port());
        next.add(kept);
      }
    }
    old.forEach(PortReader::close);
    readers = List.copyOf(next);
    scannedNs = System.nanoTime();
    scanned = true;
    return readers.stream().map(PortReader::port).toList();
  }

  /**
   * Reads all counters, after a scan if the last one is more than {@link #SCAN_EVERY_NS} ago.
   *
   * @return a reading for each port, in the order of {@link #scan}
   */
  public List<Reading> read() {
    if (!scanned || System.nanoTime() - scannedNs > SCAN_EVERY_NS) {
      scan();
    }
    List<Reading> readings = new ArrayList<>(readers.size());
    for (PortReader reader : readers) {
      readings.add(reader.read());
    }
    return readings;
  }

  @Override
  public void close() {
    readers.forEach(PortReader::close);
    readers = List.of();
    scanned = false;
  }
}

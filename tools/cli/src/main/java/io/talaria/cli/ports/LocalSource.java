// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.monitor.LocalPorts;
import io.talaria.monitor.RateTracker;
import io.talaria.monitor.Rates;
import java.nio.file.Path;
import java.util.List;

/** The ports of this host. */
public final class LocalSource implements PortSource {
  private final LocalPorts ports;
  private final RateTracker tracker = new RateTracker();
  private final PortFilter filter;

  /**
   * Begins to look.
   *
   * @param sys what stands for {@code /sys}
   * @param filter which ports
   */
  public LocalSource(Path sys, PortFilter filter) {
    ports = LocalPorts.below(sys);
    this.filter = filter;
  }

  /** Has the next look find new ports at once. */
  public void rescan() {
    ports.scan();
  }

  @Override
  public Look look() {
    List<Rates> all = tracker.update(ports.read());
    List<PortLine> lines =
        all.stream().map(PortLine::local).filter(line -> filter.wants(line.port(), true)).toList();
    return new Look(System.currentTimeMillis(), lines, all.size() - lines.size(), null, "");
  }

  @Override
  public void close() {
    ports.close();
  }
}

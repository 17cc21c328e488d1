// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.monitor.PortId;
import io.talaria.monitor.fabric.FabricException;
import io.talaria.monitor.fabric.FabricMonitor;
import io.talaria.monitor.fabric.FabricOptions;
import io.talaria.monitor.fabric.FabricPort;
import io.talaria.monitor.fabric.QueryResult;
import io.talaria.monitor.fabric.Topology;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The ports of the InfiniBand fabric that this host is in. */
public final class FabricSource implements PortSource {
  private final FabricMonitor monitor;
  private final PortFilter filter;

  /** The first look waits for all ports, so that it shows them. */
  private boolean waited;

  private FabricSource(FabricMonitor monitor, PortFilter filter) {
    this.monitor = monitor;
    this.filter = filter;
  }

  /**
   * Begins to query.
   *
   * @param options how
   * @param everyNs how often each port
   * @param filter which ports
   */
  public static FabricSource start(FabricOptions options, long everyNs, PortFilter filter) {
    return new FabricSource(FabricMonitor.start(options, everyNs), filter);
  }

  @Override
  public Look look() throws IOException, InterruptedException {
    FabricMonitor.View view;
    if (waited) {
      view = monitor.view();
    } else {
      view = monitor.awaitTopology();
      if (view.topology() != null) {
        monitor.show(wanted(view.topology()));
        view = monitor.awaitResponses();
      }
      if (!view.problem().isEmpty()) {
        throw new FabricException(view.problem(), null);
      }
      waited = true;
    }
    return look(view);
  }

  /** What is known now, without waiting; for screens. */
  public Look glance() {
    FabricMonitor.View view = monitor.view();
    if (view.topology() == null) {
      return new Look(System.currentTimeMillis(), List.of(), 0, null, view.problem());
    }
    return look(view);
  }

  /** Queries these ports alone, such as those that a screen holds. */
  public void show(List<PortId> ports) {
    monitor.show(ports);
  }

  /** Has the fabric discovered again. */
  public void rediscover() {
    monitor.rediscover();
  }

  /** Queries each port so often. */
  public void every(long ns) {
    monitor.every(ns);
  }

  private List<PortId> wanted(Topology topology) {
    return topology
        .ports()
        .filter(port -> filter.wants(port.port(), port.peer() != null))
        .filter(port -> port.peer() != null)
        .map(port -> port.port().id())
        .toList();
  }

  private Look look(FabricMonitor.View view) {
    Topology topology = view.topology();
    if (waited) {
      monitor.show(wanted(topology));
    }
    List<PortLine> lines = new ArrayList<>();
    int leftOut = 0;
    for (FabricPort port : (Iterable<FabricPort>) topology.ports()::iterator) {
      if (!filter.wants(port.port(), port.peer() != null)) {
        leftOut++;
        continue;
      }
      PortId id = port.port().id();
      QueryResult.Status failure = view.failures().get(id);
      String problem =
          port.peer() == null ? "no link" : failure == null ? "not queried yet" : failure.text();
      lines.add(
          new PortLine(
              port.port(),
              failure == null ? view.rates().get(id) : null,
              failure == null && view.rates().containsKey(id) ? "" : problem,
              port.peer()));
    }
    return new Look(System.currentTimeMillis(), lines, leftOut, topology, view.problem());
  }

  @Override
  public void close() {
    monitor.close();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.Counter;
import io.talaria.monitor.PortId;
import io.talaria.monitor.Rates;
import io.talaria.monitor.Reading;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** Queries a fabric as its standard input says, a line at a time. */
final class QueryMain {
  /** The end of a response. */
  static final String END = ".";

  private static final long LIMIT_NS = 60_000_000_000L;

  private static final Map<String, FabricPort> PORTS = new TreeMap<>();

  private QueryMain() {}

  /**
   * Runs it.
   *
   * @param args time-out and tries
   */
  public static void main(String[] args) throws Exception {
    FabricOptions options =
        new FabricOptions("", 0, Integer.parseInt(args[0]), Integer.parseInt(args[1]), 0, 200);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    FabricMonitor monitor = null;
    try (Fabric fabric = Fabric.open(options)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ");
        switch (words[0]) {
          case "discover" -> discover(fabric);
          case "query" -> query(fabric, words[1]);
          case "all" -> all(fabric);
          case "reset" -> System.out.println(fabric.reset(PORTS.get(words[1])));
          case "watch" -> monitor = watch(options);
          case "fresh" -> await(monitor, words[1], true);
          case "failure" -> await(monitor, words[1], false);
          default -> System.out.println("what is " + line + "?");
        }
        System.out.println(END);
      }
    } finally {
      if (monitor != null) {
        monitor.close();
      }
    }
  }

  private static void discover(Fabric fabric) throws FabricException {
    PORTS.clear();
    for (FabricNode node : fabric.discover().nodes()) {
      System.out.println("node " + node.type() + " " + node.description() + " " + node.guid());
      for (FabricPort port : node.ports()) {
        PORTS.put(port.port().id().toString(), port);
        System.out.println(
            "port "
                + port.port().id()
                + " "
                + port.port().state()
                + " lid "
                + port.port().lid()
                + " to "
                + port.peer()
                + " at "
                + port.port().rate().text());
      }
    }
  }

  private static void query(Fabric fabric, String port) {
    QueryResult result = fabric.query(PORTS.get(port));
    System.out.println(result.status());
    Reading reading = result.reading();
    if (reading != null) {
      for (int i = 0; i < reading.counters().size(); i++) {
        Counter counter = reading.counters().get(i);
        System.out.println(
            counter.source()
                + " "
                + counter.name()
                + " "
                + Long.toUnsignedString(reading.value(i))
                + (reading.stuck(i) ? " stuck" : ""));
      }
    }
  }

  private static void all(Fabric fabric) {
    long startNs = System.nanoTime();
    int responded = 0;
    int queried = 0;
    for (FabricPort port : PORTS.values()) {
      if (port.peer() != null) {
        queried++;
        responded += fabric.query(port).status() == QueryResult.Status.RESPONDED ? 1 : 0;
      }
    }
    System.out.println(responded + " of " + queried);
    System.out.println((System.nanoTime() - startNs) / 1000 + " µs");
  }

  /** Starts to keep querying all ports that have a link. */
  private static FabricMonitor watch(FabricOptions options) throws InterruptedException {
    FabricMonitor monitor = FabricMonitor.start(options, 50_000_000);
    FabricMonitor.View view = monitor.awaitTopology();
    if (view.topology() == null) {
      System.out.println(view.problem());
    } else {
      monitor.show(view.topology().connected().stream().map(port -> port.port().id()).toList());
    }
    return monitor;
  }

  /** Waits for a port's counters that are read after now, or for the word that it is silent. */
  private static void await(FabricMonitor monitor, String port, boolean response)
      throws InterruptedException {
    long nowNs = System.nanoTime();
    while (System.nanoTime() - nowNs < LIMIT_NS) {
      FabricMonitor.View view = monitor.view();
      for (Map.Entry<PortId, Rates> entry : view.rates().entrySet()) {
        boolean fresh = entry.getValue().reading().atNs(0) - nowNs > 0;
        if (response && entry.getKey().toString().equals(port) && fresh) {
          System.out.println("responded");
          return;
        }
      }
      for (Map.Entry<PortId, QueryResult.Status> entry : view.failures().entrySet()) {
        if (!response && entry.getKey().toString().equals(port)) {
          System.out.println(entry.getValue());
          return;
        }
      }
      Thread.sleep(5); // a view cannot be waited for
    }
    System.out.println("nothing came: " + monitor.view());
  }
}

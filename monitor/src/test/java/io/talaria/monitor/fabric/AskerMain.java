// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.Counter;
import io.talaria.monitor.Reading;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** Asks a fabric what its standard input says, a line at a time. */
final class AskerMain {
  /** The end of an answer. */
  static final String END = ".";

  private static final Map<String, FabricPort> PORTS = new TreeMap<>();

  private AskerMain() {}

  /**
   * Runs it.
   *
   * @param args none, or time-out and tries
   */
  public static void main(String[] args) throws Exception {
    FabricOptions options =
        args.length == 0
            ? FabricOptions.USUAL
            : new FabricOptions(
                "", 0, Integer.parseInt(args[0]), Integer.parseInt(args[1]), 0, 200);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Fabric fabric = Fabric.open(options)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ");
        switch (words[0]) {
          case "discover" -> discover(fabric);
          case "query" -> query(fabric, words[1]);
          case "all" -> all(fabric);
          case "reset" -> System.out.println(fabric.reset(PORTS.get(words[1])));
          case "watch" -> watch(options, words);
          default -> System.out.println("what is " + line + "?");
        }
        System.out.println(END);
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
    Answer answer = fabric.query(PORTS.get(port));
    System.out.println(answer.status());
    Reading reading = answer.reading();
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
    int answered = 0;
    int asked = 0;
    for (FabricPort port : PORTS.values()) {
      if (port.peer() != null) {
        asked++;
        answered += fabric.query(port).status() == Answer.Status.ANSWERED ? 1 : 0;
      }
    }
    System.out.println(answered + " of " + asked);
    System.out.println((System.nanoTime() - startNs) / 1000 + " µs");
  }

  /** Watches ports until the last of them has a rate, which takes two answers. */
  private static void watch(FabricOptions options, String[] words) throws InterruptedException {
    try (FabricMonitor monitor = FabricMonitor.start(options, 50_000_000)) {
      long endNs = System.nanoTime() + 60_000_000_000L;
      while (System.nanoTime() < endNs) {
        FabricMonitor.View view = monitor.view();
        if (!view.problem().isEmpty()) {
          System.out.println(view.problem());
          return;
        }
        if (view.topology() != null) {
          monitor.show(
              view.topology()
                  .ports()
                  .map(port -> port.port().id())
                  .filter(id -> java.util.List.of(words).contains(id.toString()))
                  .toList());
          String last = words[words.length - 1];
          if (view.rates().entrySet().stream()
              .anyMatch(
                  e ->
                      e.getKey().toString().equals(last)
                          && e.getValue().change(0) == io.talaria.monitor.Change.COUNTED)) {
            System.out.println(
                "rates of " + view.rates().size() + ", failures " + view.failures().values());
            return;
          }
        }
        Thread.sleep(5); // a view cannot be waited for
      }
      System.out.println("no rate came: " + monitor.view());
    }
  }
}

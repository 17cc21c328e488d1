// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * All counters of all connected ports of a simulated fabric, after discovery, beside a process of
 * {@code perfquery -x} for each port: {@code ./talaria bench ports --fabric}. That the values are
 * the same is shown by {@link FabricTest}.
 */
public final class FabricBench {
  private static final int ROUNDS = 3;
  private static final double MAX_CORE_SHARE = 0.1;
  private static final int MISSED = 3;
  private static final int UNAVAILABLE = 69; // EX_UNAVAILABLE of sysexits.h
  private static final Pattern PORT =
      Pattern.compile("port .*/(\\d+) ACTIVE lid ([1-9]\\d*) to (?!null).* at .*");

  private final PrintStream people;
  private final String json;

  private FabricBench(String json) {
    this.json = json;
    people = json.equals("-") ? System.err : System.out;
  }

  /**
   * Measures, prints, and ends with 0; with 3 if the target is missed.
   *
   * @param args where the figures go as JSON, if they are wanted: a file, or - for the standard
   *     output, and what is for people goes to the standard error then
   */
  public static void main(String[] args) throws Exception {
    Optional<String> unavailableReason = IbSim.unavailableReason();
    if (unavailableReason.isPresent()) {
      System.err.println(unavailableReason.orElseThrow());
      System.exit(UNAVAILABLE);
    }
    Path dir = Files.createTempDirectory("talaria-fabric");
    boolean held;
    try {
      held = new FabricBench(args.length == 0 ? "" : args[0]).measure(dir);
    } finally {
      try (Stream<Path> files = Files.walk(dir)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
    System.exit(held ? 0 : MISSED);
  }

  private boolean measure(Path dir) throws Exception {
    double[] ours = new double[ROUNDS];
    double[] theirs = new double[ROUNDS];
    double[] ratios = new double[ROUNDS];
    int queried;
    try (IbSim sim = IbSim.start(dir, FabricTest.NET)) {
      sim.manageOnce();
      try (IbSim.Client client = sim.client("", 2)) {
        List<String[]> ports = ports(client.request("discover"));
        for (int round = 0; round < ROUNDS; round++) {
          List<String> all = client.request("all");
          if (!all.get(0).equals(ports.size() + " of " + ports.size())) {
            throw new IllegalStateException("not all have responded: " + all);
          }
          ours[round] = Long.parseLong(all.get(1).split(" ")[0]) / 1e3;
          long beganNs = System.nanoTime();
          for (String[] port : ports) {
            if (!sim.run("perfquery", "-x", port[1], port[0]).contains("PortXmitData")) {
              throw new IllegalStateException("perfquery does not respond");
            }
          }
          theirs[round] = (System.nanoTime() - beganNs) / 1e6;
          ratios[round] = ours[round] / theirs[round];
        }
        queried = ports.size();
        people.printf(Locale.ROOT, "%d ports, %d rounds, in ms%n", queried, ROUNDS);
      }
    }
    print("monitor", ours);
    print("perfquery -x, a process for each port", theirs);
    double ratio = print("ratio", ratios);
    boolean held = ratio <= MAX_CORE_SHARE;
    people.println("at most " + MAX_CORE_SHARE + ": " + (held ? "held" : "MISSED"));
    if (!json.isEmpty()) {
      // As the engine of benchmarks writes measures; there is no library for it here.
      String figures =
          String.format(
              Locale.ROOT,
              """
              {"format": "talaria-bench-ports-2",
               "environment": {"time": "%s", "jdk": "%s", "cores": %d, "ports": %d},
               "targetsMissed": %d,
               "measures": [
                {"id": "fabric", "label": "all counters of all connected ports", "unit": "ms",
                 "rounds": {"monitor": %s, "perfquery": %s}},
                {"id": "fabric/ratio", "label": "monitor's time to perfquery's", "unit": "",
                 "rounds": {"monitor": %s},
                 "target": {"wanted": "at most %.1f", "reached": %.4f, "met": %b}}]}
              """,
              Instant.now().truncatedTo(ChronoUnit.SECONDS),
              System.getProperty("java.runtime.version"),
              Runtime.getRuntime().availableProcessors(),
              queried,
              held ? 0 : 1,
              Arrays.toString(ours),
              Arrays.toString(theirs),
              Arrays.toString(ratios),
              MAX_CORE_SHARE,
              ratio,
              held);
      if (json.equals("-")) {
        System.out.print(figures);
      } else {
        Files.writeString(Path.of(json), figures);
      }
    }
    return held;
  }

  private static List<String[]> ports(List<String> found) {
    List<String[]> ports = new ArrayList<>();
    for (String line : found) {
      Matcher matcher = PORT.matcher(line);
      if (matcher.matches()) {
        ports.add(new String[] {matcher.group(1), matcher.group(2)});
      }
    }
    return ports;
  }

  private double print(String name, double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    people.printf(
        Locale.ROOT,
        "%-40s median %9.3f  from %9.3f to %9.3f%n",
        name,
        sorted[ROUNDS / 2],
        sorted[0],
        sorted[ROUNDS - 1]);
    return sorted[ROUNDS / 2];
  }
}

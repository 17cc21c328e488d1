// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import io.talaria.cli.harness.Json;
import io.talaria.cli.ports.Tree;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How much of a core {@code top} takes that refreshes eight ports each second, on a terminal of
 * tmux: {@code ./talaria bench ports --top}. The first half minute, while classes are loaded and
 * compiled, does not count.
 */
public final class TopBench {
  private static final int PORTS = 8;
  private static final int ROUNDS = 3;
  private static final int WARM_UP_S = 30;
  private static final int ROUND_S = 30;
  private static final double MAX_PERCENT = 1;
  private static final int MISSED = 3;
  private static final int UNAVAILABLE = 69; // EX_UNAVAILABLE of sysexits.h
  private static final int TICKS_PER_SECOND = 100; // USER_HZ
  private static final int USER_TIME = 11; // of /proc/PID/stat, behind the name

  private TopBench() {}

  /**
   * Measures, prints, and ends with 0; with 3 if the target is missed.
   *
   * @param args where the figures go as JSON, if they are wanted: a file, or - for the standard
   *     output, and what is for people goes to the standard error then
   */
  public static void main(String[] args) throws Exception {
    if (!Files.isExecutable(Path.of("/usr/bin/tmux"))) {
      System.err.println("tmux is not installed (Debian: tmux)");
      System.exit(UNAVAILABLE);
    }
    Path dir = Files.createTempDirectory("talaria-top");
    boolean held;
    try {
      held = measure(dir, args.length == 0 ? "" : args[0]);
    } finally {
      tmux(dir, "kill-server");
      try (Stream<Path> files = Files.walk(dir)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
    System.exit(held ? 0 : MISSED);
  }

  private static boolean measure(Path dir, String json) throws Exception {
    Tree.ports(dir.resolve("sys"), PORTS);
    List<String> command = new ArrayList<>(List.of("-f", "/dev/null", "new-session", "-d"));
    command.addAll(List.of("-x", "110", "-y", "30", "exec " + java(dir)));
    tmux(dir, command.toArray(String[]::new));
    String pid = tmux(dir, "list-panes", "-F", "#{pane_pid}").strip();
    Thread.sleep(WARM_UP_S * 1000L);
    String screen = tmux(dir, "capture-pane", "-p");
    if (!screen.contains("mlx5_" + (PORTS - 1))) {
      throw new IllegalStateException("not all ports are on the screen:\n" + screen);
    }
    double[] percent = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long before = ticks(pid);
      long beganNs = System.nanoTime();
      Thread.sleep(ROUND_S * 1000L);
      double seconds = (System.nanoTime() - beganNs) / 1e9;
      percent[round] = 100.0 * (ticks(pid) - before) / TICKS_PER_SECOND / seconds;
    }
    List<Double> rounds = Arrays.stream(percent).boxed().toList();
    Arrays.sort(percent);
    boolean held = percent[ROUNDS / 2] < MAX_PERCENT;
    (json.equals("-") ? System.err : System.out)
        .printf(
            Locale.ROOT,
            "top, %d ports each second: median %.2f %% of a core, from %.2f to %.2f; under %.0f %%:"
                + " %s%n",
            PORTS,
            percent[ROUNDS / 2],
            percent[0],
            percent[ROUNDS - 1],
            MAX_PERCENT,
            held ? "held" : "MISSED");
    Map<String, Object> figures = figures(rounds, percent[ROUNDS / 2], held);
    if (json.equals("-")) {
      System.out.println(Json.line(figures));
    } else if (!json.isEmpty()) {
      Json.write(Path.of(json), figures);
    }
    return held;
  }

  /** As the engine of benchmarks writes measures. */
  private static Map<String, Object> figures(List<Double> rounds, double reached, boolean met) {
    return Map.of(
        "format",
        "talaria-bench-ports-2",
        "environment",
        Map.of(
            "time",
            Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
            "jdk",
            System.getProperty("java.runtime.version"),
            "cores",
            Runtime.getRuntime().availableProcessors(),
            "ports",
            PORTS),
        "targetsMissed",
        met ? 0 : 1,
        "measures",
        List.of(
            Map.of(
                "id",
                "top",
                "label",
                "top, of a core",
                "unit",
                "%",
                "rounds",
                Map.of("top", rounds),
                "target",
                Map.of("wanted", "under " + MAX_PERCENT, "reached", reached, "met", met))));
  }

  /** As the launcher starts it. */
  private static String java(Path dir) {
    String path =
        Arrays.stream(System.getProperty("java.class.path").split(":"))
            .map(part -> Path.of(part).toAbsolutePath().toString())
            .collect(Collectors.joining(":"));
    return "'"
        + Path.of(System.getProperty("java.home"), "bin", "java")
        + "' -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED -cp '"
        + path
        + "' io.talaria.cli.Main top --sys '"
        + dir.resolve("sys")
        + "'";
  }

  private static long ticks(String pid) throws IOException {
    String stat = Files.readString(Path.of("/proc", pid, "stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1]);
  }

  private static String tmux(Path dir, String... words) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(List.of("/usr/bin/tmux", "-S", dir.resolve("tmux").toString()));
    command.addAll(List.of(words));
    return ChildProcess.command(command.toArray())
        .oneOutput()
        .withoutEnvironment("TMUX"::equals)
        .environment("LC_ALL", "C.UTF-8")
        .run(Duration.ofMinutes(1))
        .outText();
  }
}

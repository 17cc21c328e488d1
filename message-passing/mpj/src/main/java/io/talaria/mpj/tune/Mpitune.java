// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.tune;

import io.talaria.mpj.collective.Choice;
import io.talaria.mpj.launch.Mpirun;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * {@code talaria mpitune}: measures which protocol and which algorithms are the fastest for these
 * ranks, on these hosts, and prints the properties that select them.
 */
public final class Mpitune {
  private static final String HELP =
      """
      Usage: talaria mpitune -np N [-quick] [OPTIONS OF mpirun] [JVM OPTIONS]

      Measures, with N ranks started as mpirun starts them with these options, up to which size
      messages should go eagerly, and which algorithm of each collective is the fastest from which
      size on. Prints the times, in nanoseconds, and as the last line the JVM options for mpirun that
      select the fastest. Takes about half a minute; nothing else should run on the hosts meanwhile.

        -np N, -n N   number of ranks, from 2
        -quick        measure shorter; the result depends more on chance
        -h, --help    print this help

      Exit status: 0, 2 wrong usage, else that of the job that failed.

        talaria mpitune -np 8 -host node1:4,node2:4 -dev nio
      """;

  private static final int STATUS_USAGE = 2;
  private static final long BLOCK_NS = 20_000_000;
  private static final long QUICK_BLOCK_NS = 1_000_000;

  private static final int PING_JOBS = 2;

  /** More than any size that is measured. */
  private static final int MAX_EAGER_BYTES = 1 << 20;

  /** Slower by less than this is no reason to leave what is usual. */
  private static final double NOTABLE = 0.95;

  private static final List<Integer> PING_SIZES = List.of(16, 256, 1024, 4096, 8192, 16000, 64000);
  private static final List<Integer> SIZES = List.of(8, 256, 4096, 32768, 262144, 1048576);
  private static final List<String> COLLECTIVES =
      List.of("bcast", "gather", "scatter", "allgather", "alltoall", "allreduce");

  private final List<String> words;
  private final long blockNs;
  private final PrintStream out;

  private Mpitune(List<String> words, long blockNs, PrintStream out) {
    this.words = words;
    this.blockNs = blockNs;
    this.out = out;
  }

  /** A job has failed, and has said why. */
  private static final class JobFailedException extends Exception {
    private static final long serialVersionUID = 1;
    private final int status;

    JobFailedException(int status) {
      super("status " + status);
      this.status = status;
    }
  }

  /**
   * Runs the command and exits with its status.
   *
   * @param args the words after {@code talaria mpitune}
   */
  public static void main(String[] args) {
    System.exit(run(args, System.out));
  }

  static int run(String[] args, PrintStream out) {
    List<String> words = new ArrayList<>(Arrays.asList(args));
    if (words.contains("-h") || words.contains("--help") || words.contains("-help")) {
      out.print(HELP);
      return 0;
    }
    boolean quick = words.removeIf("-quick"::equals);
    int np = Math.max(words.indexOf("-np"), words.indexOf("-n"));
    if (np < 0 || np + 1 == words.size() || words.get(np + 1).equals("1")) {
      System.err.println("talaria mpitune: how many ranks, from 2? for example: -np 4");
      return STATUS_USAGE;
    }
    try {
      new Mpitune(words, quick ? QUICK_BLOCK_NS : BLOCK_NS, out).tune();
      return 0;
    } catch (JobFailedException e) {
      return e.status;
    } catch (IOException e) {
      System.err.println("talaria mpitune: " + e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }

  private void tune() throws IOException, InterruptedException, JobFailedException {
    Map<String, SortedMap<Integer, Long>> ping = ping();
    print("message there and back", ping);
    List<String> chosen = new ArrayList<>();
    chosen.add("-Dtalaria.mpj.eager=" + eager(ping.get("announced"), ping.get("eager")));
    List<String> what = new ArrayList<>();
    for (String collective : COLLECTIVES) {
      what.add(named(collective, Choice.algorithms().get(collective), SIZES));
    }
    say("algorithms");
    Map<String, Map<String, SortedMap<Integer, Long>>> all = measured(List.of(), what);
    for (String collective : COLLECTIVES) {
      print(collective, all.get(collective));
      chosen.add("-Dtalaria.mpj.coll." + collective + "=" + steps(all.get(collective)));
    }
    out.println(String.join(" ", chosen));
  }

  /** The limit is a job's: so two kinds of jobs take turns, and the best times count. */
  private Map<String, SortedMap<Integer, Long>> ping()
      throws IOException, InterruptedException, JobFailedException {
    Map<String, Integer> limits = new LinkedHashMap<>();
    limits.put("announced", 0);
    limits.put("eager", MAX_EAGER_BYTES);
    Map<String, SortedMap<Integer, Long>> best = new LinkedHashMap<>();
    List<String> what = List.of(named(TuneRanks.PING, List.of(TuneRanks.USUAL), PING_SIZES));
    for (int i = 1; i <= PING_JOBS; i++) {
      for (Map.Entry<String, Integer> limit : limits.entrySet()) {
        say(limit.getKey() + " messages, " + i + " of " + PING_JOBS);
        SortedMap<Integer, Long> times =
            measured(List.of("-Dtalaria.mpj.eager=" + limit.getValue()), what)
                .get(TuneRanks.PING)
                .get(TuneRanks.USUAL);
        SortedMap<Integer, Long> before =
            best.computeIfAbsent(limit.getKey(), name -> new TreeMap<>());
        times.forEach((size, ns) -> before.merge(size, ns, Math::min));
      }
    }
    return best;
  }

  private static void say(String what) {
    System.err.println("talaria mpitune: measuring " + what);
  }

  private static String named(String name, List<String> algorithms, List<Integer> sizes) {
    return name
        + ":"
        + String.join(",", algorithms)
        + ":"
        + sizes.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  /** Runs a job: nanoseconds by what was measured, algorithm, and size. */
  private Map<String, Map<String, SortedMap<Integer, Long>>> measured(
      List<String> options, List<String> what)
      throws IOException, InterruptedException, JobFailedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Mpirun.class.getName()));
    command.addAll(words);
    command.addAll(options);
    command.add(TuneRanks.class.getName());
    command.add("" + blockNs);
    command.addAll(what);
    Process job =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    job.getOutputStream().close();
    Map<String, Map<String, SortedMap<Integer, Long>>> times = new LinkedHashMap<>();
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(job.getInputStream(), StandardCharsets.UTF_8))) {
      String line;
      while ((line = lines.readLine()) != null) {
        int at = line.indexOf(TuneRanks.LINE);
        if (at >= 0) {
          String[] parts = line.substring(at).split(" ");
          times
              .computeIfAbsent(parts[1], name -> new LinkedHashMap<>())
              .computeIfAbsent(parts[2], algorithm -> new TreeMap<>())
              .put(Integer.parseInt(parts[3]), Long.parseLong(parts[4]));
        }
      }
    }
    int status = job.waitFor();
    if (status != 0 || times.isEmpty()) {
      throw new JobFailedException(status == 0 ? 1 : status);
    }
    return times;
  }

  private void print(String title, Map<String, SortedMap<Integer, Long>> times) {
    StringBuilder head = new StringBuilder(String.format("%-24s", title));
    SortedMap<Integer, Long> any = times.values().iterator().next();
    any.keySet().forEach(size -> head.append(String.format(" %11d", size)));
    out.println(head);
    times.forEach(
        (name, bySize) -> {
          StringBuilder line = new StringBuilder(String.format("  %-22s", name));
          bySize.values().forEach(ns -> line.append(String.format(" %11d", ns)));
          out.println(line);
        });
    out.flush();
  }

  /** The longest size up to which messages that go eagerly are at least about as fast. */
  static int eager(SortedMap<Integer, Long> announced, SortedMap<Integer, Long> eager) {
    int longest = 0;
    for (Map.Entry<Integer, Long> each : eager.entrySet()) {
      if (each.getValue() * NOTABLE > announced.get(each.getKey())) {
        break;
      }
      longest = each.getKey();
    }
    return longest;
  }

  /**
   * The fastest algorithms, each from a size on; one stays as long as no other is notably faster.
   *
   * @param times nanoseconds by size of each algorithm
   */
  static String steps(Map<String, SortedMap<Integer, Long>> times) {
    StringBuilder steps = new StringBuilder();
    String current = null;
    for (int size : times.values().iterator().next().keySet()) {
      String best = null;
      for (String algorithm : times.keySet()) {
        if (best == null || times.get(algorithm).get(size) < times.get(best).get(size)) {
          best = algorithm;
        }
      }
      if (current == null) {
        current = best;
        steps.append(best);
      } else if (times.get(best).get(size) < NOTABLE * times.get(current).get(size)) {
        current = best;
        steps.append(',').append(size).append(':').append(best);
      }
    }
    return steps.toString();
  }
}

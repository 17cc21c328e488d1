// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * {@code ./talaria fuzz}: runs the fuzzer at length. Exit status 1 on a finding, 2 on bad usage.
 */
public final class FuzzMain {
  private static final String USAGE =
      """
      Usage: ./talaria fuzz [--inputs N] [--seed S] [--case N]

      Acts as a hostile peer: sends arbitrary bytes in the negotiation, writes arbitrary bytes to shared
      memory and to the control connection while programs read, write and select, and damages counters
      files. Well-behaved connections run at the same time and are checked.

        --inputs N  number of inputs (default: 1000000, which takes some minutes)
        --seed S    seed of the cases (default: from the clock)
        --case N    run only this case of the seed; a finding prints its number

      Exit status: 0 nothing found, 1 a finding, with the command that reproduces it, 2 wrong usage.

        ./talaria fuzz --inputs 200000 --seed 42
      """;

  private static final PrintStream OUT = System.out;

  private FuzzMain() {}

  /** Runs. */
  public static void main(String[] args) throws Exception {
    long inputs = 1_000_000;
    long seed = System.nanoTime() & Integer.MAX_VALUE;
    long only = -1;
    try {
      for (int i = 0; i < args.length; i++) {
        switch (args[i]) {
          case "--inputs" -> inputs = number(args, i++);
          case "--seed" -> seed = number(args, i++);
          case "--case" -> only = number(args, i++);
          case "-h", "--help" -> {
            OUT.print(USAGE);
            return;
          }
          default -> throw new IllegalArgumentException("unknown option " + args[i]);
        }
      }
      if (inputs < 1) {
        throw new IllegalArgumentException("--inputs " + inputs + " is less than 1");
      }
    } catch (IllegalArgumentException e) {
      System.err.println("talaria: fuzz: " + e.getMessage() + "; try: ./talaria fuzz --help");
      System.exit(2);
    }
    quiet();
    System.exit(run(inputs, seed, only));
  }

  private static long number(String[] args, int option) {
    String value = option + 1 < args.length ? args[option + 1] : "";
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          args[option] + " needs a whole number, not '" + value + "'", e);
    }
  }

  private static int run(long inputs, long seed, long only) throws Exception {
    OUT.println(
        "seed "
            + seed
            + ", "
            + Runtime.version()
            + ", "
            + Runtime.getRuntime().maxMemory() / (1 << 20)
            + " MiB of heap");
    Path dir = Files.createTempDirectory("talaria-fuzz-");
    Fuzzer fuzzer = new Fuzzer(seed, OUT::println);
    Watch watch =
        new Watch(
            what -> {
              OUT.println("FINDING in case " + fuzzer.number() + ": " + what);
              again(seed, fuzzer);
              Runtime.getRuntime().halt(1);
            });
    int findings = 0;
    try (watch) {
      fuzzer.run(dir, inputs, only, watch);
    } catch (Exception | Error e) {
      findings = 1;
      OUT.println("FINDING in case " + fuzzer.number() + ": " + e);
      e.printStackTrace(OUT);
      again(seed, fuzzer);
    } finally {
      delete(dir);
    }
    OUT.println(fuzzer.line());
    OUT.print(fuzzer.table());
    OUT.println(findings == 0 ? "nothing found" : findings + " finding");
    return findings;
  }

  private static void again(long seed, Fuzzer fuzzer) {
    OUT.println(
        "To see it again: ./talaria fuzz --seed "
            + seed
            + " --case "
            + fuzzer.number()
            + "\nor, where it needs what came before: ./talaria fuzz --seed "
            + seed
            + " --inputs "
            + (fuzzer.total() + 10_000));
  }

  /** Each session that is turned away says so in the log. */
  private static void quiet() throws ReflectiveOperationException {
    Class<?> logger = Class.forName("java.util.logging.Logger");
    Class<?> level = Class.forName("java.util.logging.Level");
    kept = logger.getMethod("getLogger", String.class).invoke(null, "io.talaria.nio");
    logger.getMethod("setLevel", level).invoke(kept, level.getField("OFF").get(null));
  }

  @SuppressWarnings("UnusedVariable") // or the collector would take the level with the logger
  private static Object kept;

  private static void delete(Path dir) throws java.io.IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(dir)) {
      all = files.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : all) {
      Files.deleteIfExists(file);
    }
  }
}

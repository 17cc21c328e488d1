// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.bench;

import io.talaria.mpj.launch.Mpirun;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code talaria bench mpj}: half round trips and messages in flight between two processes of this
 * host, a core each, beside Open MPI and MPICH in C. Contenders alternate; medians over rounds.
 */
public final class BenchMpj {
  private static final String HELP =
      """
      Usage: talaria bench mpj [--rounds N]

      Half round trips, and messages a second with 64 in flight, of byte arrays between two processes,
      a core each: mpj on shmdev and on ucxdev, and Open MPI (pml ob1 and ucx) and MPICH in C, as far as they are
      installed (packages openmpi-bin and libopenmpi-dev, mpich and libmpich-dev, gcc). Contenders
      alternate; medians over the rounds. Ratios are mpj on shmdev to the
      better pml of Open MPI, and on ucxdev to pml ucx, both of these on UCX_TLS=posix,self.

        --rounds N   how often each runs (5)
      """;

  /** Size, rounds to warm up, rounds to measure, windows. */
  private static final int[][] SIZES = {
    {8, 20000, 10000, 3000},
    {64, 20000, 10000, 3000},
    {1024, 20000, 10000, 2000},
    {4096, 10000, 10000, 1000},
    {65536, 2000, 2000, 100},
    {1048576, 200, 200, 10},
    {4194304, 50, 50, 5},
  };

  private static final String MPJ = "mpj";
  private static final String MPJ_UCX = "mpj-ucx";
  private static final String OMPI_UCX = "ompi-ucx";
  private static final String UCX_TLS = "UCX_TLS=posix,self";

  private BenchMpj() {}

  /**
   * Runs the command.
   *
   * @param args options
   * @throws Exception if a process cannot be run
   */
  public static void main(String[] args) throws Exception {
    int rounds = 5;
    for (int i = 0; i < args.length; i++) {
      if (args[i].equals("--rounds")
          && i + 1 < args.length
          && args[i + 1].matches("[1-9]\\d{0,3}")) {
        rounds = Integer.parseInt(args[++i]);
      } else if (args[i].equals("--help") || args[i].equals("-h")) {
        System.out.print(HELP);
        return;
      } else {
        System.err.println("bench mpj: unknown or incomplete option " + args[i] + "; try --help");
        System.exit(2);
      }
    }
    List<Contender> contenders = contenders();
    List<String> arguments = new ArrayList<>();
    for (int[] size : SIZES) {
      for (int number : size) {
        arguments.add("" + number);
      }
    }
    System.out.println(environment());
    for (int i = 0; i < rounds; i++) {
      for (Contender contender : List.copyOf(contenders)) {
        if (!contender.run(arguments)) {
          contenders.remove(contender);
        }
      }
    }
    print(contenders, 0, "half round trip, µs (lower is better)", "%12.3f");
    print(contenders, 1, "messages a second, 64 in flight (higher is better)", "%12.0f");
    System.out.println(
        "load average at the end: " + Files.readString(Path.of("/proc/loadavg")).strip());
  }

  private static String environment() throws IOException {
    String model =
        Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
            .filter(line -> line.startsWith("model name"))
            .findFirst()
            .map(line -> line.substring(line.indexOf(':') + 1).strip())
            .orElse("unknown CPU");
    return Runtime.getRuntime().availableProcessors()
        + " cores, "
        + model
        + ", Java "
        + Runtime.version()
        + ", load average "
        + Files.readString(Path.of("/proc/loadavg")).strip();
  }

  private static void print(List<Contender> contenders, int column, String title, String format) {
    System.out.println();
    System.out.println(title);
    System.out.printf("%10s", "bytes");
    for (Contender contender : contenders) {
      System.out.printf("%13s", contender.name);
    }
    System.out.printf("%9s%9s%n", "ratio", "of ucx");
    for (int[] row : SIZES) {
      System.out.printf("%10d", row[0]);
      double best = Double.NaN;
      double ours = Double.NaN;
      double oursOnUcx = Double.NaN;
      double theirsOnUcx = Double.NaN;
      for (Contender contender : contenders) {
        double value = contender.median(row[0], column);
        System.out.printf(" " + format, value);
        boolean better = column == 0 ? value < best : value > best;
        if (contender.name.startsWith("ompi") && (Double.isNaN(best) || better)) {
          best = value;
        }
        switch (contender.name) {
          case MPJ -> ours = value;
          case MPJ_UCX -> oursOnUcx = value;
          case OMPI_UCX -> theirsOnUcx = value;
          default -> {}
        }
      }
      System.out.printf(Locale.ROOT, "%9.2f%9.2f%n", ours / best, oursOnUcx / theirsOnUcx);
    }
  }

  private static List<Contender> contenders() throws IOException, InterruptedException {
    List<Contender> all = new ArrayList<>();
    List<String> launcher =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Mpirun.class.getName(),
            "-np",
            "2",
            "-bind");
    String program = PingPong.class.getName();
    all.add(new Contender(MPJ, join(launcher, program), Map.of()));
    all.add(
        new Contender(MPJ_UCX, join(launcher, "-dev", "ucx", "-x", UCX_TLS, program), Map.of()));
    Path folder = Files.createTempDirectory("talaria-bench-mpj");
    folder.toFile().deleteOnExit();
    String ompi = compile(folder, "mpicc.openmpi", "openmpi-bin and libopenmpi-dev");
    if (ompi != null) {
      Map<String, String> root =
          Map.of("OMPI_ALLOW_RUN_AS_ROOT", "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
      List<String> mpirun = List.of("mpirun.openmpi", "-np", "2", "--bind-to", "core");
      all.add(new Contender("ompi-ob1", join(mpirun, "--mca", "pml", "ob1", ompi), root));
      all.add(
          new Contender(
              OMPI_UCX,
              join(
                  mpirun,
                  "--mca",
                  "pml",
                  "ucx",
                  "--mca",
                  "pml_ucx_tls",
                  "any",
                  "--mca",
                  "pml_ucx_devices",
                  "any",
                  "-x",
                  UCX_TLS,
                  ompi),
              root));
    }
    String mpich = compile(folder, "mpicc.mpich", "mpich and libmpich-dev");
    if (mpich != null) {
      all.add(
          new Contender(
              "mpich", List.of("mpirun.mpich", "-np", "2", "-bind-to", "core", mpich), Map.of()));
    }
    return all;
  }

  private static List<String> join(List<String> first, String... more) {
    List<String> all = new ArrayList<>(first);
    all.addAll(List.of(more));
    return all;
  }

  /** Compiles the C program; null, with a word, if that compiler is not there. */
  private static String compile(Path folder, String compiler, String packages)
      throws IOException, InterruptedException {
    Path source = folder.resolve("pingpong.c");
    Path program = folder.resolve("pingpong-" + compiler);
    try (InputStream in = BenchMpj.class.getResourceAsStream("pingpong.c")) {
      Files.write(source, in.readAllBytes());
    }
    source.toFile().deleteOnExit();
    program.toFile().deleteOnExit();
    try {
      Process process =
          new ProcessBuilder(compiler, "-O3", "-o", program.toString(), source.toString())
              .inheritIO()
              .start();
      return process.waitFor() == 0 ? program.toString() : null;
    } catch (IOException e) {
      System.out.println(compiler + " is not there: install " + packages);
      return null;
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Debian's simulator of an InfiniBand fabric, and programs that are attached to it by a library put
 * in front of libibumad.
 */
final class IbSim implements AutoCloseable {
  private static final long LIMIT_S = 120;

  /** How long a response is waited for: on a busy machine the simulator's only thread is late. */
  private static final String RESPONSE_MS = "5000";

  private final Path dir;
  private final Process process;
  private final PrintStream console;
  private final String socket;

  private IbSim(Path dir, Process process, String socket) {
    this.dir = dir;
    this.process = process;
    this.socket = socket;
    console = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  /** What is missing to run it. */
  static Optional<String> unavailableReason() throws IOException {
    for (String command : List.of("ibsim", "opensm", "perfquery")) {
      if (program(command).isEmpty()) {
        return Optional.of(
            command + " is not installed (Debian: ibsim-utils, opensm, infiniband-diags)");
      }
    }
    return preload().isEmpty()
        ? Optional.of("libumad2sim.so is not installed (Debian: libumad2sim0)")
        : Optional.empty();
  }

  private static Optional<Path> program(String name) {
    return Stream.of("/usr/bin", "/usr/sbin")
        .map(place -> Path.of(place, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static Optional<Path> preload() throws IOException {
    for (String place : List.of("/usr/lib", "/usr/lib64")) {
      if (Files.isDirectory(Path.of(place))) {
        try (Stream<Path> found =
            Files.find(Path.of(place), 3, (path, is) -> path.endsWith("umad2sim/libumad2sim.so"))) {
          Optional<Path> first = found.findFirst();
          if (first.isPresent()) {
            return first;
          }
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Starts it.
   *
   * @param dir where it may write
   * @param net what the fabric is, in its own language
   */
  static IbSim start(Path dir, String net) throws Exception {
    Path file = Files.writeString(dir.resolve("net"), net);
    String socket = "talaria-" + ProcessHandle.current().pid() + "-" + dir.getFileName();
    ProcessBuilder builder =
        new ProcessBuilder(program("ibsim").orElseThrow().toString(), "-s", file.toString())
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("ibsim.log").toFile());
    builder.environment().put("IBSIM_SOCKNAME", socket);
    IbSim sim = new IbSim(dir, builder.start(), socket);
    sim.await("sim>");
    return sim;
  }

  private void await(String text) throws Exception {
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
    while (!log().contains(text)) {
      if (System.nanoTime() > endNs || !process.isAlive()) {
        throw new AssertionError("ibsim did not say " + text + " but " + log());
      }
      Thread.onSpinWait();
      Thread.sleep(5); // a file cannot be waited for
    }
  }

  private String log() throws IOException {
    return Files.readString(dir.resolve("ibsim.log"), StandardCharsets.ISO_8859_1);
  }

  /** Types a command into its console, and waits until it is done. */
  void type(String command) throws Exception {
    int prompts = prompts();
    console.println(command);
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
    while (prompts() <= prompts) {
      if (System.nanoTime() > endNs || !process.isAlive()) {
        throw new AssertionError("ibsim did not do " + command + ": " + log());
      }
      Thread.sleep(5); // a file cannot be waited for
    }
  }

  private int prompts() throws IOException {
    return log().split("sim>", -1).length;
  }

  private ProcessBuilder attached(String host, List<String> command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(dir.toFile());
    Map<String, String> environment = builder.environment();
    environment.put("LD_PRELOAD", preload().orElseThrow().toString());
    environment.put("IBSIM_SOCKNAME", socket);
    environment.put("OSM_CACHE_DIR", dir.toString());
    environment.put("OSM_TMP_DIR", dir.toString());
    if (!host.isEmpty()) {
      environment.put("SIM_HOST", host);
    }
    return builder;
  }

  /** Runs a program to its end, and returns what it printed. */
  String run(String name, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(program(name).orElseThrow().toString()));
    command.addAll(List.of(arguments));
    File out = Files.createTempFile(dir, name, ".out").toFile();
    Process ran = attached("", command).redirectErrorStream(true).redirectOutput(out).start();
    if (!ran.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
      ran.destroyForcibly();
      throw new AssertionError(name + " did not end: " + Files.readString(out.toPath()));
    }
    return Files.readString(out.toPath(), StandardCharsets.ISO_8859_1);
  }

  /** Has a subnet manager go through the fabric once, which gives out LIDs and routes. */
  void manageOnce() throws Exception {
    run("opensm", "-o", "-t", RESPONSE_MS, "-f", dir.resolve("opensm.log").toString());
  }

  /**
   * Starts a JVM that queries the fabric.
   *
   * @param host the node to query from; empty for the first
   * @param tries how often a query is sent
   */
  Client client(String host, int tries) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // The simulator's library takes every descriptor from 1024 on for one of its own.
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(part -> Path.of(part).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator)),
            QueryMain.class.getName(),
            RESPONSE_MS,
            Integer.toString(tries)));
    Path errors = Files.createTempFile(dir, "client", ".err");
    Process client = attached(host, command).redirectError(errors.toFile()).start();
    return new Client(client, errors);
  }

  /** A JVM that is told what to query, a line at a time. */
  static final class Client implements AutoCloseable {
    private final Process process;
    private final PrintStream in;
    private final BufferedReader out;
    private final Path errors;

    private Client(Process process, Path errors) {
      this.process = process;
      this.errors = errors;
      in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
      out = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Sends it a request, and returns its response. */
    List<String> request(String words) throws IOException {
      in.println(words);
      List<String> lines = new ArrayList<>();
      while (true) {
        String line = out.readLine();
        if (line == null) {
          throw new AssertionError(
              "the querying JVM ended: " + lines + "\n" + Files.readString(errors));
        }
        if (line.equals(QueryMain.END)) {
          return lines;
        }
        lines.add(line);
      }
    }

    @Override
    public void close() {
      in.close();
      if (!ended(process, LIMIT_S)) {
        process.destroyForcibly();
        throw new AssertionError("the querying JVM did not end");
      }
    }
  }

  @Override
  public void close() {
    console.println("Quit");
    console.close();
    if (!ended(process, 5)) {
      process.destroyForcibly();
    }
  }

  private static boolean ended(Process process, long seconds) {
    try {
      return process.waitFor(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}

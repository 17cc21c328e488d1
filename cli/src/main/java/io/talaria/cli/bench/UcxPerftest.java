// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.bench;

import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Pinning;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What UCX does in C over shared memory on this machine, measured by its own {@code ucx_perftest}:
 * the third column. Used by one thread.
 */
final class UcxPerftest {
  private static final String PROGRAM = "ucx_perftest";
  private static final long LIMIT_SECONDS = 30;
  private static final int TRIES = 20;
  private static final int TRY_PAUSE_MS = 100;
  private static final double MIB = 1 << 20;

  /** Columns of its CSV output, from the right, as older versions have one percentile less. */
  private static final int COLUMNS = 8;

  private final Pinning pinning;

  UcxPerftest(Pinning pinning) {
    this.pinning = pinning;
  }

  /** Returns whether it is installed. */
  static boolean installed() {
    return Pinning.find(PROGRAM) != null;
  }

  /**
   * Measures the stream API for the scenarios that it can be compared with.
   *
   * @param scenarios what Talaria is measured in
   * @return figures by the id of the row they stand in
   * @throws HarnessException if it fails
   * @throws InterruptedException if interrupted
   */
  Map<String, Double> measure(List<Scenario> scenarios)
      throws HarnessException, InterruptedException {
    Map<String, Double> figures = new HashMap<>();
    for (Scenario scenario : scenarios) {
      if (scenario.connections() > 1) {
        continue;
      }
      switch (scenario.pattern()) {
        // It polls, as a blocking call that spins and a loop around selectNow do.
        case BLOCKING, SELECT_NOW ->
            figures.put(scenario.id(), roundTripNs(run("stream_lat", scenario.sizeBytes())));
        case ONEWAY -> figures.put(scenario.id(), oneway(scenario));
        default -> {}
      }
    }
    return figures;
  }

  private double oneway(Scenario scenario) throws HarnessException, InterruptedException {
    double[] columns = run("stream_bw", scenario.sizeBytes());
    return scenario.sizeBytes() >= 4_096 ? columns[4] * MIB / 1e9 : columns[6];
  }

  /** It prints half the round trip, in microseconds. */
  static double roundTripNs(double[] columns) {
    return columns[1] * 2 * 1_000;
  }

  /** Parses the last line of its output: eight figures. */
  static double[] parse(String output) throws HarnessException {
    String[] lines = output.strip().split("\n", -1);
    String[] cells = lines[lines.length - 1].split(",", -1);
    double[] columns = new double[COLUMNS];
    try {
      for (int i = 0; i < COLUMNS; i++) {
        columns[i] = Double.parseDouble(cells[i].strip());
      }
      return columns;
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      throw new HarnessException(PROGRAM + " printed no figures: " + output.strip(), e);
    }
  }

  private double[] run(String test, int sizeBytes) throws HarnessException, InterruptedException {
    String port = Integer.toString(freePort());
    int iterations = sizeBytes >= 4_096 ? 100_000 : 1_000_000;
    Process server = start(pinning.serverCore(), "-p", port);
    try {
      String output = "";
      for (int i = 0; i < TRIES; i++) {
        Process client =
            start(
                pinning.clientCore(),
                "-p",
                port,
                InetAddress.getLoopbackAddress().getHostAddress(),
                "-t",
                test,
                "-s",
                Integer.toString(sizeBytes),
                "-n",
                Integer.toString(iterations),
                "-w",
                "50000",
                "-f",
                "-v");
        output = finish(client);
        if (client.exitValue() == 0) {
          return parse(output);
        }
        TimeUnit.MILLISECONDS.sleep(TRY_PAUSE_MS);
      }
      throw new HarnessException(PROGRAM + " failed: " + output.strip());
    } finally {
      server.destroyForcibly();
    }
  }

  private static String finish(Process client) throws HarnessException, InterruptedException {
    try {
      if (!client.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new HarnessException(PROGRAM + " did not end within " + LIMIT_SECONDS + " s");
      }
      return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new HarnessException(PROGRAM + " cannot be read: " + e.getMessage(), e);
    } finally {
      client.destroyForcibly();
    }
  }

  private static Process start(int core, String... arguments) throws HarnessException {
    List<String> words = new ArrayList<>(Pinning.prefix(core));
    words.add(PROGRAM);
    words.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.environment().put("UCX_TLS", "posix,self");
    try {
      return builder.start();
    } catch (IOException e) {
      throw new HarnessException("cannot start " + PROGRAM + ": " + e.getMessage(), e);
    }
  }

  private static int freePort() throws HarnessException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new HarnessException("no free port: " + e.getMessage(), e);
    }
  }
}

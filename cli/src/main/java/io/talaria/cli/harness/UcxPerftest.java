// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.bench;

import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Pinning;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What UCX does in C over shared memory on this machine, measured by its own {@code ucx_perftest}:
 * the third column. Used by one thread.
 */
final class UcxPerftest {
  private static final String PROGRAM = "ucx_perftest";
  private static final long LIMIT_SECONDS = 3;
  private static final int TRIES = 20;
  private static final int TRY_PAUSE_MS = 100;
  private static final double MIB = 1 << 20;
  private static final int LARGE_BYTES = 4_096;

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
   * Measures the stream API once, for a second or less, in what a scenario can be compared with.
   *
   * @param scenario what Talaria is measured in
   * @return a figure of the kind that the scenario's row shows, or NaN if there is nothing like it
   * @throws HarnessException if it fails
   * @throws InterruptedException if interrupted
   */
  double measure(Scenario scenario) throws HarnessException, InterruptedException {
    if (scenario.connections() > 1) {
      return Double.NaN;
    }
    return switch (scenario.pattern()) {
      // It polls, as a blocking call that spins and a loop around selectNow do.
      case BLOCKING, SELECT_NOW -> roundTripNs(run("stream_lat", scenario.sizeBytes()));
      case ONEWAY -> oneway(run("stream_bw", scenario.sizeBytes()), scenario.sizeBytes());
      default -> Double.NaN;
    };
  }

  /** Gigabytes a second of large messages, or small messages a second. */
  private static double oneway(double[] columns, int sizeBytes) {
    return sizeBytes >= LARGE_BYTES ? columns[5] * MIB / 1e9 : columns[7];
  }

  /** It prints half the round trip, in microseconds. */
  static double roundTripNs(double[] columns) {
    return columns[1] * 2 * 1_000;
  }

  /** Parses the last line of its output: eight figures, at the end or of a second on the way. */
  static double[] parse(String output) throws HarnessException {
    String[] lines = output.strip().split("\n", -1);
    String[] cells = lines[lines.length - 1].replaceFirst("^\\[thread \\d+\\]", "").split(",", -1);
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
    int iterations = sizeBytes >= LARGE_BYTES ? 30_000 : 500_000;
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
                Integer.toString(iterations / 20),
                "-v");
        boolean inTime = client.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        output = outputSoFar(client);
        if (!inTime || client.exitValue() == 0) {
          return parse(output);
        }
        TimeUnit.MILLISECONDS.sleep(TRY_PAUSE_MS);
      }
      throw new HarnessException(PROGRAM + " failed: " + output.strip());
    } finally {
      server.destroyForcibly();
    }
  }

  /** Ends the client, if it runs still: on a busy machine it may take for ever. */
  private static String outputSoFar(Process client) throws HarnessException {
    client.toHandle().destroyForcibly(); // which leaves what it printed to be read
    try {
      return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new HarnessException(PROGRAM + " cannot be read: " + e.getMessage(), e);
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

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What UCX does in C, measured by its own {@code ucx_perftest}: the figure that others are held
 * against. Used by one thread.
 */
public final class UcxPerftest {
  /** The transport that both sides use on one host: shared memory. */
  public static final String SHARED_MEMORY = "posix,self";

  private static final String PROGRAM = "ucx_perftest";
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(3);
  private static final int TRY_PAUSE_MS = 50;

  /** Columns of its CSV output. */
  private static final int COLUMNS = 8;

  /** The same when it has run several threads. */
  private static final int THREADS_COLUMNS = 4;

  /** How long one may take to end with this JVM: a server whose client has not come never does. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final Pinning pinning;
  private final String program;

  /**
   * Creates the runner.
   *
   * @param pinning which process sits on which core
   */
  public UcxPerftest(Pinning pinning) {
    this(pinning, PROGRAM);
  }

  /**
   * Creates a runner whose clients are of another program of the same kind.
   *
   * @param pinning which process sits on which core
   * @param program its name, if it is on the path, or its file
   */
  public UcxPerftest(Pinning pinning, String program) {
    this.pinning = pinning;
    this.program = program;
  }

  /**
   * What to run.
   *
   * @param name the name of the test, such as {@code tag_lat}
   * @param sizeBytes the size of a message
   * @param iterations how many messages or round trips; a twentieth more warm it up
   * @param options further options of the client
   * @param transports the value of {@code UCX_TLS}; empty for UCX's choice
   */
  public record Test(
      String name, int sizeBytes, long iterations, List<String> options, String transports) {

    /** Copies the options. */
    public Test {
      options = List.copyOf(options);
    }
  }

  /**
   * What it printed.
   *
   * @param iterations how many messages or round trips it has measured
   * @param medianUs the median time, in microseconds, of the last 2,048: of half a round trip in a
   *     test of round trips, of one operation otherwise; of several threads it is the average
   * @param averageUs the average of all
   * @param mebibytesPerSecond 2^20 bytes a second
   * @param perSecond messages a second; in a test of round trips both directions count
   */
  public record Figures(
      double iterations,
      double medianUs,
      double averageUs,
      double mebibytesPerSecond,
      double perSecond) {

    /** Returns the median time of a round trip of a test that measures round trips. */
    public double roundTripNs() {
      return medianUs * 2 * 1_000;
    }

    /** Returns the average time of half a round trip, or of one operation of any other test. */
    public double averageNs() {
      return averageUs * 1_000;
    }

    /** Returns 10^9 bytes a second. */
    public double gigabytesPerSecond() {
      return mebibytesPerSecond * (1 << 20) / 1e9;
    }
  }

  /** Returns whether it is installed. */
  public static boolean installed() {
    return Pinning.find(PROGRAM) != null;
  }

  /**
   * Runs a test between two processes of this host.
   *
   * @param test what to run
   * @param limit how long at most; then what it has printed on the way counts
   * @throws HarnessException if it fails
   * @throws InterruptedException if interrupted
   */
  public Figures run(Test test, Duration limit) throws HarnessException, InterruptedException {
    try (Server server = startServer(pinning.serverCore(), test.transports())) {
      return run(test, InetAddress.getLoopbackAddress().getHostAddress(), server.port(), limit);
    }
  }

  /**
   * Runs a test against a server that starts, or has been started.
   *
   * @param test what to run
   * @param host the server's host
   * @param port the server's port
   * @param limit how long at most; then what it has printed on the way counts
   * @throws HarnessException if it fails
   * @throws InterruptedException if interrupted
   */
  public Figures run(Test test, String host, int port, Duration limit)
      throws HarnessException, InterruptedException {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("-p", Integer.toString(port), host));
    arguments.addAll(List.of("-t", test.name(), "-s", Integer.toString(test.sizeBytes())));
    arguments.addAll(
        List.of(
            "-n",
            Long.toString(test.iterations()),
            "-w",
            Long.toString(test.iterations() / 20),
            "-v"));
    arguments.addAll(test.options());
    long start = System.nanoTime();
    while (true) {
      Process client = start(program, pinning.clientCore(), test.transports(), arguments);
      boolean inTime;
      try {
        inTime = client.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      } finally {
        end(client); // on a busy machine it may take for ever
      }
      String output = output(client);
      if (!inTime && output.isBlank()) {
        throw new HarnessException(
            PROGRAM
                + " printed nothing within "
                + limit.toMillis() / 1e3
                + " s; the host may be too busy for it");
      }
      if (!inTime || client.exitValue() == 0) {
        return parse(output);
      }
      if (System.nanoTime() - start > CONNECT_LIMIT.toNanos()) {
        throw new HarnessException(PROGRAM + " failed: " + output.strip());
      }
      TimeUnit.MILLISECONDS.sleep(TRY_PAUSE_MS);
    }
  }

  /** A server for one test; closing it ends it. */
  public static final class Server implements AutoCloseable {
    private final Process process;
    private final int port;

    private Server(Process process, int port) {
      this.process = process;
      this.port = port;
    }

    /** Returns where it listens. */
    public int port() {
      return port;
    }

    @Override
    public void close() {
      process.destroyForcibly();
      ProcessesAtExit.forget(process);
    }
  }

  /**
   * Starts a server.
   *
   * @param core the core to pin it to, or {@link Pinning#NONE}
   * @param transports the value of {@code UCX_TLS}; empty for UCX's choice
   * @return the server, which may take a moment until it listens; to be closed
   * @throws HarnessException if it cannot be started
   */
  public static Server startServer(int core, String transports) throws HarnessException {
    int port = freePort();
    List<String> arguments = List.of("-p", Integer.toString(port));
    return new Server(start(PROGRAM, core, transports, arguments), port);
  }

  /**
   * Parses the last line of its output: figures at the end, or of a second on the way.
   *
   * @param output all that it has printed
   * @return the figures
   * @throws HarnessException if there are none
   */
  public static Figures parse(String output) throws HarnessException {
    String[] lines = output.strip().split("\n", -1);
    String[] cells = lines[lines.length - 1].replaceFirst("^\\[thread \\d+\\]", "").split(",", -1);
    try {
      double[] columns = new double[cells.length];
      for (int i = 0; i < columns.length; i++) {
        columns[i] = Double.parseDouble(cells[i].strip());
      }
      if (columns.length == COLUMNS) {
        return new Figures(columns[0], columns[1], columns[3], columns[5], columns[7]);
      }
      if (columns.length == THREADS_COLUMNS) {
        return new Figures(columns[0], columns[1], columns[1], columns[2], columns[3]);
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new HarnessException(PROGRAM + " printed no figures: " + output.strip());
  }

  private static void end(Process process) {
    process.toHandle().destroyForcibly(); // which leaves what it printed to be read
    ProcessesAtExit.forget(process);
  }

  private static String output(Process client) throws HarnessException {
    try {
      return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new HarnessException(PROGRAM + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static Process start(String program, int core, String transports, List<String> arguments)
      throws HarnessException {
    List<String> words = new ArrayList<>(Pinning.prefix(core));
    words.add(program);
    words.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    if (!transports.isEmpty()) {
      builder.environment().put("UCX_TLS", transports);
    }
    try {
      return ProcessesAtExit.start(builder, GRACE);
    } catch (IOException e) {
      throw new HarnessException("cannot start " + program + ": " + e.getMessage(), e);
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

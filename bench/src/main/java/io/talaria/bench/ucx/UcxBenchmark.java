// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * What JMH drives. Each of its threads has a connection of its own, with its own context, worker
 * and endpoint, so they share nothing in Java or in UCX. There is nothing for a black hole to
 * consume: all that is done is done to memory that another process looks at.
 */
@State(Scope.Thread)
public class UcxBenchmark {
  /** System properties that tell where the server is. */
  static final String HOST = "talaria.cli.ucx.host";

  static final String PORT = "talaria.cli.ucx.port";

  /** Of a file, because others can see a command line. */
  static final String TOKEN_FILE = "talaria.cli.ucx.token.file";

  static final String TRANSPORTS = "talaria.cli.ucx.transports";
  static final String YIELDS = "talaria.cli.ucx.yields";

  /** What is measured. */
  @Param("TAG")
  public Operation operation;

  /** Of how many bytes. */
  @Param("16")
  public int sizeBytes;

  private Client client;
  private int batch;

  /** Creates the state; JMH does. */
  public UcxBenchmark() {}

  /**
   * Connects.
   *
   * @param params the mode, and how many operations are measured together
   * @throws IOException if there is no server, or it refuses
   */
  @Setup(Level.Trial)
  public void open(BenchmarkParams params) throws IOException {
    batch = params.getOpsPerInvocation();
    Client.Place place =
        new Client.Place(
            new InetSocketAddress(System.getProperty(HOST), Integer.getInteger(PORT)),
            Files.readString(Path.of(System.getProperty(TOKEN_FILE))),
            System.getProperty(TRANSPORTS, ""),
            Boolean.getBoolean(YIELDS));
    Kind kind = params.getMode() == Mode.Throughput ? Kind.THROUGHPUT : Kind.LATENCY;
    client = Client.open(place, operation, kind, sizeBytes);
  }

  /** One operation, there and back. */
  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public void latency() {
    client.once();
  }

  /** Many operations, several in flight. */
  @Benchmark
  @BenchmarkMode(Mode.Throughput)
  @OutputTimeUnit(TimeUnit.SECONDS)
  public void throughput() {
    client.many(batch);
  }

  /**
   * Ends the connection.
   *
   * @throws IOException if the server has not seen all of it
   */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    client.end();
  }
}

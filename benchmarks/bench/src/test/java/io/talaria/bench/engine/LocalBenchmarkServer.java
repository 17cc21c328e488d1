// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.Pinning;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/** A benchmark server in this process. */
public final class LocalBenchmarkServer implements AutoCloseable {
  /** What it wants to hear. */
  public static final String TOKEN = "secret";

  private final BenchmarkServer benchmarkServer;

  /** Opens one whose JVMs run anywhere. */
  public LocalBenchmarkServer() throws IOException {
    this(new JvmStarter("server", Pinning.NONE, null, List.of(), List.of()));
  }

  /** Opens one that starts JVMs in some way. */
  public LocalBenchmarkServer(JvmStarter starter) throws IOException {
    InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    benchmarkServer = new BenchmarkServer(here, starter, TOKEN, "test", line -> {});
    Thread.ofPlatform().daemon().start(benchmarkServer::serve);
  }

  /** Returns its port. */
  public int port() {
    return benchmarkServer.port();
  }

  @Override
  public void close() {
    benchmarkServer.close();
  }
}

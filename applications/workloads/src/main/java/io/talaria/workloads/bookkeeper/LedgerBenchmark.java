// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.compare.Benchmark;
import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Launch;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.run.FolderServer;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;

/**
 * Ledgers written and read.
 *
 * @param job what a client does
 * @param live whether to say every second how far it is
 */
record LedgerBenchmark(LedgerJob job, boolean live) implements Benchmark {
  @Override
  public String format() {
    return "talaria-bench-bookkeeper-2";
  }

  @Override
  public Map<String, Object> options() {
    return Map.of("job", job);
  }

  @Override
  public boolean several() {
    return false;
  }

  @Override
  public void serve(Launch launch, HostPort where, PrintWriter out)
      throws HarnessException, InterruptedException {
    FolderServer.serve(launch, BookKeeperJvm.class, where, out);
  }

  @Override
  public List<BenchmarkCase> cases(Launch launch, List<HostPort> remotes) {
    return List.of(new LedgerCase(launch, job, live, remotes));
  }
}

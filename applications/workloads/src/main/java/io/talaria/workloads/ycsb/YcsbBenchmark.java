// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.compare.Benchmark;
import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.SideOptions.Side;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A store under a workload.
 *
 * @param store the store
 * @param wanted what the user wants
 * @param workload the workload's properties
 */
record YcsbBenchmark(Store store, YcsbOptions wanted, Map<String, String> workload)
    implements Benchmark {
  @Override
  public String format() {
    return "talaria-bench-" + store.name() + "-2";
  }

  @Override
  public Map<String, Object> options() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("workload", workload);
    all.put("phases", wanted.phases().stream().map(Phase::label).toList());
    all.put("threads", wanted.threads());
    all.put("warmUpSeconds", wanted.warmUp().seconds());
    return all;
  }

  @Override
  public boolean repeatable(Side side) {
    return side != Side.CLIENT
        || (wanted.phases().contains(Phase.RUN) && !WorkloadFile.inserts(workload));
  }

  @Override
  public boolean several() {
    return store.several();
  }

  @Override
  public void serve(Launch launch, HostPort where, PrintWriter out)
      throws HarnessException, InterruptedException {
    store.serve(launch, where, out);
  }

  @Override
  public List<BenchmarkCase> cases(Launch launch, List<HostPort> remotes) {
    return List.of(new YcsbCase(launch, store, wanted, workload, remotes));
  }
}

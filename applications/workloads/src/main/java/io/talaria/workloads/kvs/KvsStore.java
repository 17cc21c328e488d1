// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Servers;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.ycsb.Store;
import java.io.PrintWriter;
import java.util.List;

/**
 * The key-value store under YCSB.
 *
 * @param servers how many servers are started on this machine
 */
record KvsStore(int servers) implements Store {
  @Override
  public String name() {
    return "kvs";
  }

  @Override
  public Class<?> main() {
    return KvsBenchJvm.class;
  }

  @Override
  public boolean several() {
    return true;
  }

  @Override
  public void serve(Launch launch, HostPort where, PrintWriter out)
      throws HarnessException, InterruptedException {
    Orders.serve(launch, main(), where, new KvsJob(List.of()), out);
  }

  @Override
  public Servers start(Launch launch, Implementation implementation)
      throws HarnessException, InterruptedException {
    return KvsServers.start(launch, main(), implementation, servers);
  }
}

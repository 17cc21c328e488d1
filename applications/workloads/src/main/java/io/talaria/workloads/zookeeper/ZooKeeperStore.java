// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Servers;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.run.FolderServer;
import io.talaria.workloads.ycsb.Store;
import java.io.PrintWriter;

/** ZooKeeper under YCSB. */
record ZooKeeperStore() implements Store {
  @Override
  public String name() {
    return "zookeeper";
  }

  @Override
  public Class<?> main() {
    return ZooKeeperJvm.class;
  }

  @Override
  public boolean several() {
    return false;
  }

  @Override
  public void serve(Launch launch, HostPort where, PrintWriter out)
      throws HarnessException, InterruptedException {
    FolderServer.serve(launch, main(), where, out);
  }

  @Override
  public Servers start(Launch launch, Implementation implementation)
      throws HarnessException, InterruptedException {
    return FolderServer.start(launch, main(), implementation);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Servers;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.util.ArrayList;
import java.util.List;

/** Some servers on this machine, each in a JVM of its own. Used by one thread, which closes it. */
public final class KvsServers implements Servers {
  private final List<ChildJvm> jvms = new ArrayList<>();
  private final List<HostPort> addresses = new ArrayList<>();

  private KvsServers() {}

  /**
   * Starts servers.
   *
   * @param launch how to start JVMs
   * @param main the class they run
   * @param implementation the implementation whose sockets are used
   * @param count how many
   * @throws HarnessException if one does not start
   * @throws InterruptedException if interrupted
   */
  public static KvsServers start(
      Launch launch, Class<?> main, Implementation implementation, int count)
      throws HarnessException, InterruptedException {
    KvsServers servers = new KvsServers();
    try {
      for (int i = 1; i <= count; i++) {
        ChildJvm jvm =
            launch.start(
                "server " + i, main, implementation, launch.pinning().serverCore(), List.of());
        servers.jvms.add(jvm);
        servers.addresses.add(Orders.listen(jvm, Orders.local(), new KvsJob(List.of())));
      }
      return servers;
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      servers.close();
      throw e;
    }
  }

  /** Those started first come first. */
  @Override
  public List<HostPort> addresses() {
    return List.copyOf(addresses);
  }

  @Override
  public List<ChildJvm> jvms() {
    return List.copyOf(jvms);
  }

  @Override
  public void close() {
    jvms.forEach(ChildJvm::close);
  }
}

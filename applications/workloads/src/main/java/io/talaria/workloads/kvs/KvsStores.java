// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.talaria.cli.harness.HarnessException;
import io.talaria.workloads.ycsb.Failures;
import io.talaria.workloads.ycsb.Stores;
import io.talaria.workloads.ycsb.YcsbJob;
import java.util.ArrayList;
import java.util.List;
import site.ycsb.DB;

/** A client of all servers for each thread, on common event loops. */
final class KvsStores implements Stores {
  private final EventLoopGroup loops = new NioEventLoopGroup();
  private final List<KvsClient> clients = new ArrayList<>();
  private final Failures failures;

  private KvsStores(Failures failures) {
    this.failures = failures;
  }

  static KvsStores open(YcsbJob job, Failures failures) throws HarnessException {
    KvsStores stores = new KvsStores(failures);
    try {
      for (int i = 0; i < job.threads(); i++) {
        stores.clients.add(KvsClient.connect(job.servers(), stores.loops));
      }
      return stores;
    } catch (HarnessException | RuntimeException e) {
      stores.close();
      throw e;
    }
  }

  @Override
  public DB forThread(int thread) {
    return new KvsDb(clients.get(thread), failures);
  }

  @Override
  public int connections() {
    return clients.stream().mapToInt(KvsClient::connections).sum();
  }

  @Override
  public void ping() throws KvsException {
    for (KvsClient client : clients) {
      client.ping();
    }
  }

  @Override
  public void close() {
    clients.forEach(KvsClient::close);
    loops.shutdownGracefully();
  }
}

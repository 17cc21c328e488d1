// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.ycsb.Failures;
import io.talaria.workloads.ycsb.Stores;
import io.talaria.workloads.ycsb.YcsbJob;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import site.ycsb.DB;
import site.ycsb.workloads.CoreWorkload;

/** A session for each thread. */
final class ZooKeeperStores implements Stores {
  private static final int CLOSE_MS = (int) TimeUnit.SECONDS.toMillis(1);

  private final List<ZooKeeper> sessions = new ArrayList<>();
  private final HostPort server;
  private final Failures failures;

  private ZooKeeperStores(HostPort server, Failures failures) {
    this.server = server;
    this.failures = failures;
  }

  static ZooKeeperStores open(YcsbJob job, Failures failures) throws Exception {
    ZooKeeperStores stores = new ZooKeeperStores(job.servers().getFirst(), failures);
    try {
      for (int i = 0; i < job.threads(); i++) {
        stores.sessions.add(ZooKeeperSession.open(stores.server));
      }
      stores.makeTable(
          job.properties()
              .getOrDefault(
                  CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT));
      return stores;
    } catch (Exception e) {
      stores.close();
      throw e;
    }
  }

  private void makeTable(String name) throws KeeperException, InterruptedException {
    try {
      sessions
          .getFirst()
          .create("/" + name, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (KeeperException.NodeExistsException e) {
      // Of an earlier phase.
    }
  }

  @Override
  public DB forThread(int thread) {
    return new ZooKeeperDb(server, sessions.get(thread), failures);
  }

  @Override
  public int connections() {
    return sessions.size();
  }

  @Override
  public void ping() throws KeeperException, InterruptedException {
    for (ZooKeeper session : sessions) {
      session.exists("/", false);
    }
  }

  @Override
  public void close() {
    for (ZooKeeper session : sessions) {
      try {
        session.close(CLOSE_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Service;
import io.talaria.bench.compare.Task;
import io.talaria.cli.harness.HarnessException;
import io.talaria.workloads.run.FolderJob;
import java.io.File;
import java.io.IOException;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A ZooKeeper server alone, on its NIO connections without worker threads, that does not wait for
 * the disk.
 */
public final class ZooKeeperHost implements Service {
  private static final int TICK_MS = 2_000;
  private static final int MAX_CLIENTS = 1_000;

  private final ServerCnxnFactory connections;

  private ZooKeeperHost(ServerCnxnFactory connections) {
    this.connections = connections;
  }

  /**
   * Starts the server.
   *
   * @param task where to listen, and the folder for its data
   * @throws HarnessException if it cannot listen there
   * @throws IOException if the folder cannot be used
   * @throws InterruptedException if interrupted
   */
  public static ZooKeeperHost open(Task task)
      throws HarnessException, IOException, InterruptedException {
    System.setProperty("zookeeper.forceSync", "no");
    System.setProperty("zookeeper.nio.numWorkerThreads", "0");
    System.setProperty("zookeeper.nio.numSelectorThreads", "1");
    NIOServerCnxnFactory factory = new NIOServerCnxnFactory();
    try {
      factory.configure(Peer.bindAddress(task.where()), MAX_CLIENTS);
    } catch (IOException e) {
      throw Peer.cannotListen(task.where(), e);
    }
    File folder = new File(task.job(FolderJob.class).folder());
    factory.startup(new ZooKeeperServer(folder, folder, TICK_MS));
    return new ZooKeeperHost(factory);
  }

  @Override
  public int port() {
    return connections.getLocalPort();
  }

  @Override
  public void close() {
    connections.shutdown();
  }
}

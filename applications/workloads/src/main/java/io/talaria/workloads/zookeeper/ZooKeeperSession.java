// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import io.talaria.bench.compare.Peer;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ClientCnxnSocketNIO;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/** Opens sessions with a ZooKeeper server, on the client's NIO socket. */
final class ZooKeeperSession {
  private static final int SESSION_MS = 10_000;
  private static final int LIMIT_SECONDS = 10;

  private ZooKeeperSession() {}

  /** Returns a connected session; the caller closes it. */
  static ZooKeeper open(HostPort server)
      throws IOException, HarnessException, InterruptedException {
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(
        ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, ClientCnxnSocketNIO.class.getName());
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper session =
        new ZooKeeper(
            server.toString(),
            SESSION_MS,
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
              }
            },
            config);
    if (!connected.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      session.close(0);
      throw Peer.cannotConnect(
          server, new ConnectException("no ZooKeeper answers within " + LIMIT_SECONDS + " s"));
    }
    return session;
  }
}

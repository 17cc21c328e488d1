// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import io.talaria.bench.compare.Peer;
import io.talaria.workloads.run.QuietLog;
import io.talaria.workloads.ycsb.YcsbClient;

/** The program of both sides. */
public final class ZooKeeperJvm {
  private ZooKeeperJvm() {}

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    QuietLog.warningsOnly();
    Peer.serve(ZooKeeperHost::open, YcsbClient.on(ZooKeeperStores::open));
  }
}

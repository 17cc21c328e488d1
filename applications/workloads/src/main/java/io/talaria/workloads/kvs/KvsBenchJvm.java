// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.talaria.bench.compare.Peer;
import io.talaria.workloads.ycsb.YcsbClient;

/** The program of both sides of the benchmark. */
public final class KvsBenchJvm {
  private KvsBenchJvm() {}

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    Peer.serve(KvsHost::open, YcsbClient.on(KvsStores::open));
  }
}

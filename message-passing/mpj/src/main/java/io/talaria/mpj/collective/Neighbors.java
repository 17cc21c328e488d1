// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.engine.Transfer;

/** Collectives of neighbours in a topology: each rank exchanges elements with its own only. */
public final class Neighbors {
  private Neighbors() {}

  /**
   * Sends a block to each neighbour, and receives one from each. Messages between two ranks that
   * are neighbours more than once are received in the order of sending: a rank sends in the order
   * in which the others receive.
   *
   * @param call what it is part of
   * @param out blocks to send
   * @param in blocks to receive
   * @param ranks of the neighbours; negative ones stand for none
   * @param order in which the blocks are sent
   */
  public static void exchange(
      Team team, Call call, Blocks out, Blocks in, int[] ranks, int[] order) {
    team.begin(call);
    int n = ranks.length;
    Transfer[] receives = new Transfer[n];
    for (int k = 0; k < n; k++) {
      if (ranks[k] >= 0) {
        receives[k] = team.irecv(in.buffer, in.at(k), in.count(k), in.layout, ranks[k]);
      }
    }
    Transfer[] sends = new Transfer[n];
    for (int k : order) {
      if (ranks[k] >= 0) {
        sends[k] = team.isend(out.buffer, out.at(k), out.count(k), out.layout, ranks[k]);
      }
    }
    for (int k = 0; k < n; k++) {
      if (receives[k] != null) {
        team.finish(receives[k], ranks[k]);
      }
    }
    for (Transfer send : sends) {
      if (send != null) {
        send.await();
      }
    }
  }
}

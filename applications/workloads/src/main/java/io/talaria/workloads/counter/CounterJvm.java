// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

import io.talaria.bench.compare.Peer;

/** The program of both sides. */
public final class CounterJvm {
  private CounterJvm() {}

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    Peer.serve(CounterServer::open, CounterClient::run);
  }
}

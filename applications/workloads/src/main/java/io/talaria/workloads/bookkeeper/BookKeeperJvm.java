// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.compare.Peer;
import io.talaria.workloads.run.QuietLog;

/** The program of both sides. */
public final class BookKeeperJvm {
  private BookKeeperJvm() {}

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    QuietLog.warningsOnly();
    // Of the transports that BookKeeper would rather use.
    System.setProperty("io.netty.transport.noNative", "true");
    Peer.serve(BookieHost::open, LedgerClient::run);
  }
}

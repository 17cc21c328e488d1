// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.netty.NettyServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;

/** The program of both child JVMs: Netty server or client, as the parent orders. */
public final class DemoPeer {
  private DemoPeer() {}

  /**
   * Does what the parent orders on standard input.
   *
   * @param args none
   */
  public static void main(String[] args) {
    ParentLink.serve(DemoPeer::run);
  }

  private static void run(ParentLink link) throws Exception {
    DemoJob job = link.receive(DemoJob.class);
    if (job.server()) {
      try (NettyServer server = new NettyServer(loopback(0), 1)) {
        link.report("listening", server.port());
        // Serves until the parent ends this process.
        link.receive(String.class);
      }
    } else {
      new ClientPhases(link, job).run();
      link.report("result", Map.of());
    }
  }

  static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }
}

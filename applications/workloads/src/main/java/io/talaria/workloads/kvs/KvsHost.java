// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Service;
import io.talaria.bench.compare.Task;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;

/**
 * A server in a child JVM.
 *
 * @param server the server
 */
public record KvsHost(KvsServer server) implements Service {
  /**
   * Starts the server.
   *
   * @param task where to listen
   * @throws HarnessException if it cannot listen there
   */
  public static KvsHost open(Task task) throws HarnessException {
    try {
      return new KvsHost(new KvsServer(Peer.bindAddress(task.where())));
    } catch (IOException e) {
      throw Peer.cannotListen(task.where(), e.getCause() == null ? e : e.getCause());
    }
  }

  @Override
  public int port() {
    return server.port();
  }

  @Override
  public void close() {
    server.close();
  }
}

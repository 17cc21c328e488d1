// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.ucx.UcxTransport;
import java.io.IOException;

/**
 * Transport ucx of a node, or why the node does without it.
 *
 * @param transport null if it is off or cannot be used
 * @param unavailableReason why {@code transport} is null; else null
 */
record Network(NetworkTransport transport, String unavailableReason) {
  private static final System.Logger LOG = System.getLogger("io.talaria.messaging");

  /**
   * Opens transport ucx if the options ask for it.
   *
   * @param threadName the name of its thread
   * @throws IOException if it cannot be used, and the options allow no other transport
   */
  static Network open(NodeOptions options, String threadName) throws IOException {
    if (!options.transports().contains(Transport.UCX)) {
      return new Network(null, "transport ucx is off");
    }
    String reason;
    try {
      return new Network(UcxTransport.open(threadName, options.maxConnections()), null);
    } catch (IOException e) {
      reason = e.getMessage();
    } catch (LinkageError e) {
      reason =
          "the modules io.talaria.ucx and io.talaria.ffi are not there: put their jars on the class"
              + " path, or add --add-modules io.talaria.ucx ("
              + e
              + ")";
    }
    if (options.transports().size() == 1) {
      throw new IOException("transport ucx is the only one, and cannot be used: " + reason);
    }
    LOG.log(System.Logger.Level.INFO, "node " + options.id() + " goes without ucx: " + reason);
    return new Network(null, reason);
  }

  void close() {
    if (transport != null) {
      transport.close();
    }
  }
}

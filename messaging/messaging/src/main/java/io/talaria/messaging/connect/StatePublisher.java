// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.counters.NodeFile;
import io.talaria.messaging.handshake.Announcement;
import io.talaria.messaging.node.LocalNode;
import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import java.io.IOException;
import java.nio.file.Path;

/** Keeps the counters file of a node up to date. Conductor's thread. */
final class StatePublisher {
  private final LocalNode node;
  private final long cluster;
  private final ConnectionTable connections;
  private NodeFile file;

  /** There is no run-time directory. */
  private boolean unseen;

  /** The last attempt failed, which was reported. */
  private boolean failing;

  StatePublisher(Identity identity, ConnectionTable connections) {
    node = identity.node();
    cluster = identity.cluster();
    this.connections = connections;
  }

  /** Writes it; a node without a run-time directory works, and is not seen. */
  void publish() {
    if (unseen || node.closing()) {
      return;
    }
    try {
      if (file == null) {
        Path directory = RunDirectories.run(node.options());
        if (new PrivateDirectory(directory, Reason.NO_RUNTIME_DIR).prepare() != null) {
          unseen = true;
          return;
        }
        file = NodeFile.of(directory, Announcement.number(cluster, node.id()));
      }
      file.write(PublishedState.line(node, connections.all(), connections::silentNs));
      failing = false;
    } catch (IOException e) { // such as no descriptor, or no space: the next tick tries again
      if (!failing) {
        failing = true;
        node.events().internal("counters file", e);
      }
    }
  }

  /** Removes it. */
  void remove() {
    if (file != null) {
      file.remove();
    }
  }
}

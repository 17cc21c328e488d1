// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.types.TypeEntry;
import io.talaria.messaging.types.Types;

/**
 * Reports messages and requests that cannot be delivered: to the listeners of this node, and to the
 * node that waits for a response. Any thread.
 */
final class Rejections {
  private final Types types;
  private final NodeEvents events;

  Rejections(Types types, NodeEvents events) {
    this.types = types;
    this.events = events;
  }

  /** The codec or a constructor has thrown. */
  void unreadable(
      Connection connection,
      TypeEntry type,
      byte kind,
      int slot,
      int generation,
      Throwable thrown) {
    String why = "its bytes cannot be read: " + Thrown.text(thrown);
    reject(connection, type.name(), kind, slot, generation, Code.TYPE_MISMATCH, why);
  }

  /**
   * The program has registered nothing that takes it.
   *
   * @param type null if this node has no such type
   */
  void noHandler(
      Connection connection, TypeEntry type, int typeIndex, byte kind, int slot, int generation) {
    String name = typeIndex < connection.typeNames.length ? connection.typeNames[typeIndex] : "?";
    Code code = Code.NO_RECEIVER;
    String why;
    if (type == null && types.named(name) != null) {
      code = Code.TYPE_MISMATCH;
      why = "the type has other components there" + connection.mismatch(typeIndex);
    } else if (type == null) {
      why = "the type is not registered";
    } else {
      why =
          kind == Records.REQUEST
              ? "no request handler is registered"
              : "no receiver is registered";
    }
    reject(connection, name, kind, slot, generation, code, why);
  }

  private void reject(
      Connection connection,
      String type,
      byte kind,
      int slot,
      int generation,
      Code code,
      String why) {
    events.dropped(connection.peer, type, why);
    if (kind == Records.REQUEST) {
      connection.responses().fail(slot, generation, code, type + ": " + why);
    }
  }
}

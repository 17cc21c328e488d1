// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Codec;
import io.talaria.messaging.Receiver;
import io.talaria.messaging.RequestHandler;
import java.util.function.Supplier;

/** A registered type. */
final class TypeEntry {
  /** Its place in the table that the other nodes are told. */
  final int index;

  final Class<?> type;
  final Codec<Object> codec;

  /**
   * Whether its codec was written by the program: it may be slow, and is not trusted with a claim.
   */
  final boolean explicit;

  /** Of what its codec writes; 0 if that is not known. */
  final long fingerprint;

  /** What its codec writes, as other nodes are told; null: the program's own codec knows. */
  final String form;

  /** Who takes its messages, or null. */
  Target<Receiver<Object>> receiver;

  /** Who answers its requests, or null. */
  Target<RequestHandler<Object>> requestHandler;

  /** Makes objects to read into, or null. */
  Supplier<?> reuse;

  /** The one object read into again and again; poller. */
  Object reused;

  TypeEntry(
      int index,
      Class<?> type,
      Codec<Object> codec,
      boolean explicit,
      long fingerprint,
      String form) {
    this.index = index;
    this.type = type;
    this.codec = codec;
    this.explicit = explicit;
    this.fingerprint = fingerprint;
    this.form = form;
  }

  /** The same type, as it is read from a node that writes it otherwise. */
  TypeEntry readBy(Codec<Object> adapted) {
    TypeEntry entry = new TypeEntry(index, type, adapted, false, fingerprint, form);
    entry.receiver = receiver;
    entry.requestHandler = requestHandler;
    return entry;
  }

  String name() {
    return type.getName();
  }
}

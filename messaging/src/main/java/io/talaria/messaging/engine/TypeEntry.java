// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Answerer;
import io.talaria.messaging.Codec;
import io.talaria.messaging.Receiver;
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

  /** Who takes its messages, or null. */
  Target<Receiver<Object>> receiver;

  /** Who answers its questions, or null. */
  Target<Answerer<Object>> answerer;

  /** Makes objects to read into, or null. */
  Supplier<?> reuse;

  /** The one object read into again and again; poller. */
  Object reused;

  TypeEntry(int index, Class<?> type, Codec<Object> codec, boolean explicit, long fingerprint) {
    this.index = index;
    this.type = type;
    this.codec = codec;
    this.explicit = explicit;
    this.fingerprint = fingerprint;
  }

  String name() {
    return type.getName();
  }
}

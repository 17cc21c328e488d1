// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.types;

import io.talaria.messaging.Codec;
import io.talaria.messaging.Receiver;
import io.talaria.messaging.RequestHandler;
import java.util.function.Supplier;

/** A registered type: its codec, and its receiver and request handler. */
public final class TypeEntry {
  /** Its index in the table of types that this node sends in the handshake. */
  public final int index;

  public final Class<?> type;
  public final Codec<Object> codec;

  /**
   * Whether the program has written the codec. It may be slow, so it does not write large messages
   * directly into a ring.
   */
  public final boolean explicit;

  /** A hash of {@link #form}; 0 if there is no form. */
  public final long fingerprint;

  /** A description of what the codec writes, for other nodes; null for a codec of the program. */
  public final String form;

  /** The receiver of its messages, or null. */
  public Target<Receiver<Object>> receiver;

  /** The handler of its requests, or null. */
  public Target<RequestHandler<Object>> requestHandler;

  /** Makes the object that {@link #reused} holds; null if the program does not reuse objects. */
  public Supplier<?> reuse;

  /** The object into which INLINE messages are read. Used by the poller only. */
  public Object reused;

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

  /** The same type with a codec that reads the form in which another node writes it. */
  TypeEntry readBy(Codec<Object> adapted) {
    TypeEntry entry = new TypeEntry(index, type, adapted, false, fingerprint, form);
    entry.receiver = receiver;
    entry.requestHandler = requestHandler;
    return entry;
  }

  public String name() {
    return type.getName();
  }
}

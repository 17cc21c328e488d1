// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.MessageReader;
import java.util.Map;
import java.util.function.Supplier;

/** Reads one value that the other node has written. */
interface ValueReader {
  Object read(MessageReader in);

  /** Reads a value that may be null. */
  static ValueReader orNull(ValueReader reader) {
    return in -> in.getBoolean() ? reader.read(in) : null;
  }

  /**
   * Makes the reader of a form only once, because the form may contain itself.
   *
   * @param made by the identity of forms, those that were made or are being made
   */
  static ValueReader once(Map<Form, Later> made, Form form, Supplier<ValueReader> maker) {
    Later known = made.get(form);
    if (known == null) {
      known = new Later();
      made.put(form, known);
      known.reader = maker.get();
    }
    return known;
  }

  /** Counts how deep values lie in each other. */
  static ValueReader level(ValueReader reader) {
    return in -> {
      in.enter();
      Object value = reader.read(in);
      in.leave();
      return value;
    };
  }

  /** Stands for a reader that is being made, so that a type may contain itself. */
  final class Later implements ValueReader {
    /** Set once, before the first read. */
    ValueReader reader;

    @Override
    public Object read(MessageReader in) {
      return reader.read(in);
    }
  }
}

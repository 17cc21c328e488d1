// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.MessageReader;

/** Reads one value that the other node has written. */
interface ValueReader {
  Object read(MessageReader in);

  /** Reads a value that may be null. */
  static ValueReader orNull(ValueReader reader) {
    return in -> in.getBoolean() ? reader.read(in) : null;
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

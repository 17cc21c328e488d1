// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.records;

import io.talaria.messaging.codec.SegmentReader;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.MemorySegment;

/** Has codecs read messages from memory. On the thread of the {@link ThreadContext}. */
public final class Decoder {
  private Decoder() {}

  /**
   * Reads a message, which must take all bytes.
   *
   * @param inline whether the object may be reused for the next message, as on the poller
   */
  public static Object read(
      ThreadContext context,
      TypeEntry type,
      boolean inline,
      MemorySegment memory,
      long offset,
      int bytes) {
    SegmentReader in = context.in.over(memory, offset, bytes);
    context.inCodec = true;
    try {
      Object message;
      if (inline && type.reuse != null) {
        Object old = type.reused == null ? type.reuse.get() : type.reused;
        message = type.codec.readInto(old, in);
        type.reused = message;
      } else {
        message = type.codec.read(in);
      }
      in.expectEnd();
      return message;
    } finally {
      context.inCodec = false;
      in.done();
    }
  }
}

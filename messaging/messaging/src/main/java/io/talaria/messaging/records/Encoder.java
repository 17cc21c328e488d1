// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.records;

import io.talaria.messaging.Codec;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.MemorySegment;

/**
 * Has codecs write messages into memory, and checks that each writes the size that it has said. On
 * the thread of the {@link ThreadContext}.
 */
public final class Encoder {
  private Encoder() {}

  /** The size that a codec says for a message. */
  public static int size(ThreadContext context, Codec<Object> codec, Object message) {
    context.inCodec = true;
    try {
      int size = codec.size(message);
      if (size < 0) {
        throw new IllegalStateException(
            "the codec of " + message.getClass().getName() + " says a size of " + size);
      }
      return size;
    } finally {
      context.inCodec = false;
    }
  }

  /** Has a codec write a message to {@code context.out}, and checks that it writes its size. */
  public static void write(ThreadContext context, TypeEntry type, Object message, int size) {
    context.inCodec = true;
    try {
      type.codec.write(message, context.out);
      int left = context.out.remaining();
      if (left != 0) {
        throw new IllegalStateException(
            "the codec of "
                + type.name()
                + " wrote "
                + (size - left)
                + " bytes, its size said "
                + size);
      }
    } finally {
      context.out.done();
      context.inCodec = false;
    }
  }

  /** Encodes into the thread's scratch memory; returns the size. */
  public static int encode(ThreadContext context, TypeEntry type, Object message) {
    int size = size(context, type.codec, message);
    encode(context, type, message, size, context.scratch(size));
    return size;
  }

  /** Encodes into given memory, which has the size. */
  public static void encode(
      ThreadContext context, TypeEntry type, Object message, int size, MemorySegment memory) {
    context.out.over(memory, 0, size);
    write(context, type, message, size);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import java.nio.ByteBuffer;
import java.util.Random;

/**
 * A request, which is its own answer.
 *
 * <pre>
 *  0        4              12      13
 *  +--------+--------------+-------+--- ... length
 *  | length | connection   | flags | bytes of a pattern
 *  +--------+--------------+-------+---
 * </pre>
 */
final class Frame {
  /** Bytes without the pattern. */
  static final int HEADER_BYTES = 13;

  /** The answerer closes as soon as it has answered. */
  static final byte BYE = 1;

  private Frame() {}

  /** A frame to be written. */
  static ByteBuffer make(Random chance, long connection, byte flags, int patternBytes) {
    ByteBuffer frame = allocate(chance, HEADER_BYTES + patternBytes);
    frame.putInt(frame.capacity()).putLong(connection).put(flags);
    byte first = (byte) chance.nextInt();
    while (frame.hasRemaining()) {
      frame.put((byte) (first + 7 * frame.position()));
    }
    return frame.flip();
  }

  /** Room on the heap or outside. */
  static ByteBuffer allocate(Random chance, int bytes) {
    return bytes > 1024 && chance.nextBoolean()
        ? ByteBuffer.allocateDirect(bytes)
        : ByteBuffer.allocate(bytes);
  }

  /** The length that a frame tells of itself, whose header is there. */
  static int length(ByteBuffer frame) {
    return frame.getInt(0);
  }

  static long connection(ByteBuffer frame) {
    return frame.getLong(4);
  }

  static byte flags(ByteBuffer frame) {
    return frame.get(12);
  }

  /** Whether an answer is the request, both complete. */
  static boolean same(ByteBuffer request, ByteBuffer answer) {
    return request.duplicate().rewind().equals(answer.duplicate().flip());
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/** Random bytes that nobody can guess who has not been told them. */
record Nonce(long first, long second) {
  static final int BYTES = 2 * Long.BYTES;

  private static final SecureRandom RANDOM = new SecureRandom();

  static Nonce random() {
    return new Nonce(RANDOM.nextLong(), RANDOM.nextLong());
  }

  /** Reads one of which all bytes are there. */
  static Nonce read(ByteBuffer from) {
    return new Nonce(from.getLong(), from.getLong());
  }

  ByteBuffer bytes() {
    return ByteBuffer.allocate(BYTES).putLong(first).putLong(second).flip();
  }

  @Override
  public String toString() {
    return "a nonce"; // not for logs
  }
}

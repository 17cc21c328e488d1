// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.binding;

import java.nio.ByteBuffer;

/**
 * Native memory that UCX sends from and receives into, of one binding. It is freed when the object
 * is no longer reachable; its owner keeps it reachable while UCX has the memory.
 */
public abstract class Block {
  private final ByteBuffer bytes;

  /**
   * Wraps memory.
   *
   * @param bytes all of it, as a direct buffer that is big-endian
   */
  protected Block(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  /**
   * The memory. Its position and limit are not used.
   *
   * @return a direct buffer, big-endian
   */
  public final ByteBuffer bytes() {
    return bytes;
  }
}

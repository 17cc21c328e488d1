// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * Where memory of a peer is and by which key it may be accessed, as {@link RegisteredMemory#handle}
 * gives it; a peer gets it by a message, for instance. Immutable. A peer that has the handle and a
 * connection to the node can use the memory: keep the handle secret like a password.
 *
 * @param node whose memory it is
 * @param address where it begins there
 * @param length how many bytes it has
 * @param key by which it is accessed
 */
public record RemoteMemory(long node, long address, long length, int key) {
  /** What {@link #store} writes. */
  public static final int BYTES = 32;

  /** Checks the length. */
  public RemoteMemory {
    if (length < 0) {
      throw new IllegalArgumentException("remote memory of " + length + " bytes");
    }
  }

  /**
   * Writes the handle, with a checksum.
   *
   * @param to where to, for instance the memory of a slice
   * @param offset where in that; {@link #BYTES} must fit
   */
  public void store(MemorySegment to, long offset) {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    bytes.putLong(node).putLong(address).putLong(length).putInt(key).putInt(0);
    bytes.putInt(BYTES - 4, checksum(bytes.array()));
    MemorySegment.copy(bytes.array(), 0, to, JAVA_BYTE, offset, BYTES);
  }

  /**
   * Reads a handle.
   *
   * @param from where {@link #store} has written, for instance {@link Message#segment}
   * @param offset where in that
   * @return the handle
   * @throws IllegalArgumentException if there is none, or it was damaged
   */
  public static RemoteMemory load(MemorySegment from, long offset) {
    Objects.checkFromIndexSize(offset, (long) BYTES, from.byteSize());
    byte[] raw = new byte[BYTES];
    MemorySegment.copy(from, JAVA_BYTE, offset, raw, 0, BYTES);
    ByteBuffer bytes = ByteBuffer.wrap(raw);
    if (bytes.getInt(BYTES - 4) != checksum(raw)) {
      throw new IllegalArgumentException(
          "this is no handle of remote memory: its checksum is wrong");
    }
    return new RemoteMemory(
        bytes.getLong(0), bytes.getLong(8), bytes.getLong(16), bytes.getInt(24));
  }

  private static int checksum(byte[] bytes) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, 0, BYTES - 4);
    return (int) sum.getValue();
  }

  /** The address of a part, which must be within. */
  long addressOf(long offset, long bytes) {
    return address + Objects.checkFromIndexSize(offset, bytes, length);
  }
}

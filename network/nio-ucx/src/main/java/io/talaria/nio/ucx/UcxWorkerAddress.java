// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A worker's address as it travels. UCX reads an address without looking for its end and trusts all
 * of it, so it is wrapped, to find out what was cut or mixed up:
 *
 * <pre>
 *   0        4         8          12
 *   +--------+---------+----------+---------------+
 *   | "TLA1" | length  | CRC-32C  | UCX's address |
 *   +--------+---------+----------+---------------+
 * </pre>
 *
 * <p>That finds accidents, not attackers: addresses are taken from authenticated peers only.
 *
 * <p>{@code WorkerAddress} of the module {@code ucx} has the same layout. It needs Java 25, whereas
 * this module runs on Java 17 with JUCX, so neither can use the other's class.
 */
final class UcxWorkerAddress {
  private static final int MAGIC = 0x544c4131;
  private static final int HEADER_BYTES = 12;
  private static final int MAX_BYTES = 1 << 20;

  private UcxWorkerAddress() {}

  /** Wraps UCX's own bytes. */
  static byte[] wrap(byte[] raw) {
    return ByteBuffer.allocate(HEADER_BYTES + raw.length)
        .putInt(MAGIC)
        .putInt(raw.length)
        .putInt(crc(raw))
        .put(raw)
        .array();
  }

  /**
   * UCX's own bytes of what {@link #wrap} made.
   *
   * @throws IllegalArgumentException if that is not a whole address
   */
  static byte[] unwrap(byte[] bytes) {
    if (bytes.length < HEADER_BYTES) {
      throw new IllegalArgumentException("no worker address: " + bytes.length + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    int magic = in.getInt();
    int length = in.getInt();
    int crc = in.getInt();
    if (magic != MAGIC || length != in.remaining() || length == 0 || length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "no worker address: " + bytes.length + " bytes, magic " + Integer.toHexString(magic));
    }
    byte[] raw = Arrays.copyOfRange(bytes, HEADER_BYTES, bytes.length);
    if (crc(raw) != crc) {
      throw new IllegalArgumentException("a worker address whose checksum is wrong");
    }
    return raw;
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * How other processes reach a worker ({@code ucp_address_t}): bytes to be sent to them by some
 * other way. Immutable.
 *
 * <p>UCX reads an address without looking for its end and trusts all of it. So what travels is
 * wrapped, to find out what was cut or mixed up:
 *
 * <pre>
 *   0        4         8          12
 *   +--------+---------+----------+---------------+
 *   | "TLA1" | length  | CRC-32C  | UCX's address |
 *   +--------+---------+----------+---------------+
 * </pre>
 *
 * <p>This finds accidents, not attackers: take addresses from peers you trust only.
 */
public final class WorkerAddress {
  private static final int MAGIC = 0x544c4131;
  private static final int HEADER_BYTES = 12;
  private static final int MAX_BYTES = 1 << 20;

  private final byte[] raw;

  private WorkerAddress(byte[] raw) {
    this.raw = raw;
  }

  /**
   * Reads what {@link #toBytes} wrote.
   *
   * @param bytes the wrapped address
   * @return the address
   * @throws IllegalArgumentException if the bytes are not a whole address
   */
  public static WorkerAddress of(byte[] bytes) {
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
    return new WorkerAddress(raw);
  }

  /**
   * Takes UCX's own bytes, such as a program in another language sends. Nothing can be checked:
   * bytes that are no address may crash the process.
   *
   * @param raw what {@code ucp_worker_get_address} gave there
   * @return the address
   */
  public static WorkerAddress ofRaw(byte[] raw) {
    if (raw.length == 0 || raw.length > MAX_BYTES) {
      throw new IllegalArgumentException("no worker address: " + raw.length + " bytes");
    }
    return new WorkerAddress(raw.clone());
  }

  /**
   * The wrapped address.
   *
   * @return bytes for {@link #of}
   */
  public byte[] toBytes() {
    return ByteBuffer.allocate(HEADER_BYTES + raw.length)
        .putInt(MAGIC)
        .putInt(raw.length)
        .putInt(crc(raw))
        .put(raw)
        .array();
  }

  /**
   * UCX's own bytes.
   *
   * @return a copy
   */
  public byte[] toRaw() {
    return raw.clone();
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WorkerAddress address && Arrays.equals(raw, address.raw);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(raw);
  }

  @Override
  public String toString() {
    return "WorkerAddress[" + raw.length + " bytes]";
  }
}

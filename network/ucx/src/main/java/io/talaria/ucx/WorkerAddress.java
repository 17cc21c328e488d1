// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_WORKER_ADDRESS_ATTR_FIELD_UID;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.WorkerAddressAttr;
import io.talaria.ucx.binding.UcxLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
  private static final long PADDING_BYTES = 1024;

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

  /**
   * The number that tells the worker apart ({@code ucp_worker_address_query}).
   *
   * @return any number
   */
  public long workerId() {
    UcxLibrary.required();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = Native.zeroed(arena, WorkerAddressAttr.STRUCT);
      attr.set(JAVA_LONG, WorkerAddressAttr.FIELD_MASK, UCP_WORKER_ADDRESS_ATTR_FIELD_UID);
      Status.check(
          Ucp.workerAddressQuery(toNative(arena), attr.address()), "ucp_worker_address_query");
      return attr.get(JAVA_LONG, WorkerAddressAttr.WORKER_UID);
    }
  }

  /** Where UCX may read it. It looks for no end, so zeros follow, should it read on. */
  long toNative(Arena arena) {
    MemorySegment address = arena.allocate(raw.length + PADDING_BYTES, 8);
    MemorySegment.copy(raw, 0, address, ValueLayout.JAVA_BYTE, 0, raw.length);
    return address.address();
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

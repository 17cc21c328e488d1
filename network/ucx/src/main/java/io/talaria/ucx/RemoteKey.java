// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * What a peer needs to reach a {@link MemoryRegion}: where it is, how long it is, and UCX's packed
 * key ({@code ucp_rkey_pack}); bytes to be sent to the peer by some other way. Immutable.
 *
 * <p>UCX reads a key without looking for its end and trusts all of it, and knows nothing of the
 * region's length. So what travels is wrapped:
 *
 * <pre>
 *   0        4         8          12        20       28
 *   +--------+---------+----------+---------+--------+-----------+
 *   | "TLK1" | length  | CRC-32C  | address | bytes  | UCX's key |
 *   +--------+---------+----------+---------+--------+-----------+
 * </pre>
 *
 * <p>This finds accidents, not attackers: take keys from peers you trust only. A key is good for
 * endpoints to a worker of the region's context, as long as the region is open.
 */
public final class RemoteKey {
  private static final int MAGIC = 0x544c4b31;
  private static final int HEADER_BYTES = 12;
  private static final int PLACE_BYTES = 16;
  private static final int MAX_BYTES = 1 << 20;

  private final long address;
  private final long lengthBytes;
  private final byte[] raw;

  RemoteKey(long address, long lengthBytes, byte[] raw) {
    this.address = address;
    this.lengthBytes = lengthBytes;
    this.raw = raw;
  }

  /**
   * Reads what {@link #toBytes} wrote.
   *
   * @param bytes the wrapped key
   * @return the key
   * @throws IllegalArgumentException if the bytes are not a whole key
   */
  public static RemoteKey of(byte[] bytes) {
    if (bytes.length <= HEADER_BYTES + PLACE_BYTES) {
      throw new IllegalArgumentException("no remote key: " + bytes.length + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    int magic = in.getInt();
    int length = in.getInt();
    int crc = in.getInt();
    if (magic != MAGIC || length != in.remaining() || length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "no remote key: " + bytes.length + " bytes, magic " + Integer.toHexString(magic));
    }
    if (crc(bytes) != crc) {
      throw new IllegalArgumentException("a remote key whose checksum is wrong");
    }
    long address = in.getLong();
    long lengthBytes = in.getLong();
    if (lengthBytes <= 0 || address + lengthBytes < address) {
      throw new IllegalArgumentException("a remote key to " + lengthBytes + " bytes");
    }
    return new RemoteKey(
        address, lengthBytes, Arrays.copyOfRange(bytes, in.position(), bytes.length));
  }

  /**
   * The wrapped key.
   *
   * @return bytes for {@link #of}
   */
  public byte[] toBytes() {
    ByteBuffer out =
        ByteBuffer.allocate(HEADER_BYTES + PLACE_BYTES + raw.length)
            .putInt(MAGIC)
            .putInt(PLACE_BYTES + raw.length)
            .putInt(0)
            .putLong(address)
            .putLong(lengthBytes)
            .put(raw);
    return out.putInt(8, crc(out.array())).array();
  }

  private static int crc(byte[] wrapped) {
    CRC32C crc = new CRC32C();
    crc.update(wrapped, HEADER_BYTES, wrapped.length - HEADER_BYTES);
    return (int) crc.getValue();
  }

  /**
   * How long the region is.
   *
   * @return a number of bytes
   */
  public long lengthBytes() {
    return lengthBytes;
  }

  long address() {
    return address;
  }

  byte[] raw() {
    return raw;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RemoteKey key
        && address == key.address
        && lengthBytes == key.lengthBytes
        && Arrays.equals(raw, key.raw);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(address) * 31 + Arrays.hashCode(raw);
  }

  @Override
  public String toString() {
    return "RemoteKey[to " + lengthBytes + " bytes]";
  }
}

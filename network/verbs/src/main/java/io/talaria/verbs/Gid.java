// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Raw;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * A global identifier of a port: 128 bits, written like an IPv6 address. Immutable.
 *
 * @param prefix the first 64 bits, most significant first
 * @param identifier the last 64 bits
 */
public record Gid(long prefix, long identifier) {
  /** No identifier at all. */
  public static final Gid NONE = new Gid(0, 0);

  /** What {@link #of(byte[])} takes. */
  public static final int BYTES = 16;

  private static final long IPV4_MAPPED = 0xffffL << 32;

  /**
   * Takes 16 bytes in network order, as {@link #toBytes} gives them.
   *
   * @param bytes 16 bytes
   * @return the identifier
   */
  public static Gid of(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException("a GID of " + bytes.length + " bytes, not " + BYTES);
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new Gid(buffer.getLong(), buffer.getLong());
  }

  /**
   * The identifier that RoCE gives to an IP address.
   *
   * @param address of version 4 or 6
   * @return the identifier
   */
  public static Gid of(InetAddress address) {
    byte[] bytes = address.getAddress();
    return bytes.length == BYTES
        ? of(bytes)
        : new Gid(0, IPV4_MAPPED | (ByteBuffer.wrap(bytes).getInt() & 0xffffffffL));
  }

  static Gid at(long address) {
    return new Gid(
        Bits.networkLong(Raw.longAt(address)), Bits.networkLong(Raw.longAt(address + 8)));
  }

  void store(long address) {
    Raw.word(address, Bits.networkLong(prefix));
    Raw.word(address + 8, Bits.networkLong(identifier));
  }

  /**
   * The bytes in network order.
   *
   * @return 16 bytes
   */
  public byte[] toBytes() {
    return ByteBuffer.allocate(BYTES).putLong(prefix).putLong(identifier).array();
  }

  /**
   * Whether it stands for an IPv4 address.
   *
   * @return whether it does
   */
  public boolean isIpv4() {
    return prefix == 0 && identifier >>> 32 == 0xffff;
  }

  @Override
  public String toString() {
    if (isIpv4()) {
      try {
        byte[] four = ByteBuffer.allocate(4).putInt((int) identifier).array();
        return "::ffff:" + InetAddress.getByAddress(four).getHostAddress();
      } catch (UnknownHostException e) {
        throw new AssertionError(e);
      }
    }
    String digits = HexFormat.of().formatHex(toBytes());
    return digits.replaceAll("(....)(?=.)", "$1:");
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

import static io.talaria.nio.counters.file.CountersLayout.ADDRESS_BYTES;
import static io.talaria.nio.counters.file.CountersLayout.ADDRESS_FAMILY;
import static io.talaria.nio.counters.file.CountersLayout.ADDRESS_PORT;
import static io.talaria.nio.counters.file.CountersLayout.ADDRESS_SCOPE;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/** Addresses as {@link CountersLayout} draws them. */
public final class AddressCodec {
  private static final int FAMILY_NONE = 0;
  private static final int FAMILY_IPV4 = 4;
  private static final int FAMILY_IPV6 = 6;
  private static final int MAX_ADDRESS_BYTES = 16;

  private AddressCodec() {}

  /** Writes an address; null and an unresolved one become "none". */
  public static void put(ByteBuffer to, int at, InetSocketAddress address) {
    InetAddress host = address == null ? null : address.getAddress();
    byte[] bytes = host == null ? new byte[0] : host.getAddress();
    int family =
        host == null ? FAMILY_NONE : bytes.length == MAX_ADDRESS_BYTES ? FAMILY_IPV6 : FAMILY_IPV4;
    to.put(at + ADDRESS_FAMILY, (byte) family);
    to.putShort(at + ADDRESS_PORT, host == null ? 0 : (short) address.getPort());
    to.putInt(at + ADDRESS_SCOPE, host instanceof Inet6Address six ? six.getScopeId() : 0);
    to.put(at + ADDRESS_BYTES, bytes);
    int after = at + ADDRESS_BYTES + bytes.length;
    CountersLayout.putZeros(to, after, MAX_ADDRESS_BYTES - bytes.length);
  }

  /**
   * Reads an address.
   *
   * @return the address, or null for "none" and for a family that does not exist
   */
  public static InetSocketAddress get(ByteBuffer from, int at) {
    int family = from.get(at + ADDRESS_FAMILY);
    if (family != FAMILY_IPV4 && family != FAMILY_IPV6) {
      return null;
    }
    byte[] bytes = new byte[family == FAMILY_IPV4 ? 4 : MAX_ADDRESS_BYTES];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = from.get(at + ADDRESS_BYTES + i);
    }
    int scope = from.getInt(at + ADDRESS_SCOPE);
    try {
      InetAddress host =
          family == FAMILY_IPV6 && scope > 0
              ? Inet6Address.getByAddress(null, bytes, scope)
              : InetAddress.getByAddress(bytes);
      return new InetSocketAddress(host, Short.toUnsignedInt(from.getShort(at + ADDRESS_PORT)));
    } catch (UnknownHostException e) {
      throw new AssertionError("an address of " + bytes.length + " bytes is legal", e);
    }
  }
}

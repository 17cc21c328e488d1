// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.talaria.ffi.Raw;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/**
 * Addresses as C has them.
 *
 * <pre>
 *   sockaddr_in   0 family | 2 port (network order) | 4 address
 *   sockaddr_in6  0 family | 2 port (network order) | 4 flow | 8 address | 24 scope
 * </pre>
 */
final class SocketAddresses {
  private static final short INET = 2;
  private static final short INET6 = 10;
  private static final long PORT = 2;
  private static final long ADDRESS = 4;
  private static final long ADDRESS6 = 8;
  private static final long SCOPE6 = 24;
  private static final long ROOM = 128;
  private static final ValueLayout.OfShort NETWORK_SHORT =
      JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

  private SocketAddresses() {}

  static long store(InetSocketAddress address, Arena arena) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("the name " + address.getHostString() + " is not known");
    }
    MemorySegment room = arena.allocate(ROOM, 8);
    InetAddress host = address.getAddress();
    boolean six = host instanceof Inet6Address;
    room.set(JAVA_SHORT, 0, six ? INET6 : INET);
    room.set(NETWORK_SHORT, PORT, (short) address.getPort());
    byte[] bytes = host.getAddress();
    MemorySegment.copy(
        bytes, 0, room, ValueLayout.JAVA_BYTE, six ? ADDRESS6 : ADDRESS, bytes.length);
    if (six) {
      room.set(ValueLayout.JAVA_INT, SCOPE6, ((Inet6Address) host).getScopeId());
    }
    return room.address();
  }

  /** The address there, or null if there is none. */
  static InetSocketAddress read(long at) {
    short family = Raw.MEMORY.get(JAVA_SHORT, at);
    int port = Raw.MEMORY.get(NETWORK_SHORT, at + PORT) & 0xffff;
    byte[] bytes = new byte[family == INET6 ? 16 : 4];
    if (family != INET && family != INET6) {
      return null;
    }
    Raw.copy(at + (family == INET6 ? ADDRESS6 : ADDRESS), bytes, 0, bytes.length);
    try {
      return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }
}

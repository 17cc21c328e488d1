// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/** Socket addresses between Java and C: {@code struct sockaddr_in} and {@code sockaddr_in6}. */
final class SocketAddresses {
  private static final short AF_INET = 2;
  private static final short AF_INET6 = 10;
  private static final long PORT = 2;
  private static final long ADDRESS4 = 4;
  private static final long ADDRESS6 = 8;
  private static final long SCOPE6 = 24;
  private static final long SIZE4 = 16;
  private static final long SIZE6 = 28;
  private static final ValueLayout.OfShort NETWORK_SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

  private SocketAddresses() {}

  static MemorySegment toNative(Arena arena, InetSocketAddress address) {
    byte[] bytes = address.getAddress().getAddress();
    boolean six = bytes.length > 4;
    MemorySegment out = arena.allocate(six ? SIZE6 : SIZE4, 8);
    out.set(JAVA_SHORT, 0, six ? AF_INET6 : AF_INET);
    out.set(NETWORK_SHORT, PORT, (short) address.getPort());
    MemorySegment.copy(bytes, 0, out, JAVA_BYTE, six ? ADDRESS6 : ADDRESS4, bytes.length);
    if (address.getAddress() instanceof Inet6Address scoped) {
      out.set(JAVA_INT, SCOPE6, scoped.getScopeId());
    }
    return out;
  }

  static InetSocketAddress fromNative(MemorySegment in) {
    short family = in.get(JAVA_SHORT, 0);
    if (family != AF_INET && family != AF_INET6) {
      throw new UcxException(Status.INVALID_ADDR, "an address of family " + family);
    }
    boolean six = family == AF_INET6;
    byte[] bytes = new byte[six ? 16 : 4];
    MemorySegment.copy(in, JAVA_BYTE, six ? ADDRESS6 : ADDRESS4, bytes, 0, bytes.length);
    try {
      int scope = six ? in.get(JAVA_INT, SCOPE6) : 0;
      // A link-local address says nothing without its interface.
      InetAddress address =
          scope == 0
              ? InetAddress.getByAddress(bytes)
              : Inet6Address.getByAddress(null, bytes, scope);
      return new InetSocketAddress(address, in.get(NETWORK_SHORT, PORT) & 0xffff);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }
}

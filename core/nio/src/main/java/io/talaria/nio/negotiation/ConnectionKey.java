// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The TCP 4-tuple of a connection, the same at both ends unless something translates addresses in
 * between.
 *
 * @param client the connecting side's address
 * @param server the accepting side's address
 */
public record ConnectionKey(InetSocketAddress client, InetSocketAddress server) {
  /** Largest encoded size, in bytes. */
  static final int MAX_BYTES = 2 * (1 + 16 + 2);

  private static final int IPV4_BYTES = 4;
  private static final int IPV6_BYTES = 16;

  /** Makes a key without scope identifiers, which the ends need not share. */
  public ConnectionKey {
    client = plain(client);
    server = plain(server);
  }

  private static InetSocketAddress plain(InetSocketAddress address) {
    InetAddress ip = address.getAddress();
    if (ip instanceof Inet4Address) {
      return address; // it has none, and every connection makes a key
    }
    try {
      return new InetSocketAddress(InetAddress.getByAddress(ip.getAddress()), address.getPort());
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("no address in " + address, e);
    }
  }

  /** Whether the connection goes from this host to itself, as far as addresses tell. */
  public boolean local() {
    InetAddress to = server.getAddress();
    return to.isLoopbackAddress() || to.equals(client.getAddress());
  }

  /**
   * Whether it may go from one network namespace to another by one Ethernet segment, as far as
   * addresses tell. The neighbours of IPv6 addresses are not known.
   */
  public boolean mayBeNeighbours() {
    return !local() && mayBeOnSegment(client) && mayBeOnSegment(server);
  }

  private static boolean mayBeOnSegment(InetSocketAddress address) {
    InetAddress ip = address.getAddress();
    return ip instanceof Inet4Address
        && !ip.isLoopbackAddress()
        && !ip.isAnyLocalAddress()
        && !ip.isMulticastAddress();
  }

  @Override
  public String toString() {
    return text(client) + " to " + text(server);
  }

  private static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /** Both addresses, the client's first: each its length, itself and its port; big-endian. */
  public byte[] encoded() {
    ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
    encode(bytes);
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  void encode(ByteBuffer to) {
    encode(to, client);
    encode(to, server);
  }

  private static void encode(ByteBuffer to, InetSocketAddress address) {
    byte[] ip = address.getAddress().getAddress();
    to.put((byte) ip.length).put(ip).putShort((short) address.getPort());
  }

  static ConnectionKey decode(ByteBuffer from) throws MalformedFrameException {
    return new ConnectionKey(decodeAddress(from), decodeAddress(from));
  }

  private static InetSocketAddress decodeAddress(ByteBuffer from) throws MalformedFrameException {
    int length = Wire.unsignedByte(from);
    if (length != IPV4_BYTES && length != IPV6_BYTES) {
      throw new MalformedFrameException("an address of " + length + " bytes");
    }
    byte[] ip = Wire.bytes(from, length);
    try {
      return new InetSocketAddress(InetAddress.getByAddress(ip), Wire.unsignedShort(from));
    } catch (UnknownHostException e) {
      throw new MalformedFrameException("an address: " + e.getMessage());
    }
  }
}

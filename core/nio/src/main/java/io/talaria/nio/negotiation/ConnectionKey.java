// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.net.Inet4Address;
import java.net.Inet6Address;
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
 * @param zone the interface of a connection from a link-local address to itself: one host may have
 *     the address on several interfaces, and then the kernel tells connections apart by that; else
 *     0
 */
public record ConnectionKey(InetSocketAddress client, InetSocketAddress server, int zone) {
  /** Largest encoded size, in bytes. */
  static final int MAX_BYTES = 2 * (1 + 16 + 2) + Integer.BYTES;

  private static final int IPV4_BYTES = 4;
  private static final int IPV6_BYTES = 16;
  private static final int ZONED_BYTES = IPV6_BYTES + Integer.BYTES;

  /** Makes a key without scope identifiers in its addresses, which two hosts need not share. */
  public ConnectionKey {
    client = plain(client);
    server = plain(server);
    if (!server.getAddress().isLinkLocalAddress()
        || !server.getAddress().equals(client.getAddress())) {
      zone = 0;
    }
  }

  /** The key of a connection between two addresses, as a channel has them. */
  public ConnectionKey(InetSocketAddress client, InetSocketAddress server) {
    this(client, server, Math.max(zone(client), zone(server)));
  }

  private static int zone(InetSocketAddress address) {
    return address.getAddress() instanceof Inet6Address six ? six.getScopeId() : 0;
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

  // A record's own would be linked when the first connection is made, which takes 10 ms of a core.

  @Override
  public boolean equals(Object other) {
    return other instanceof ConnectionKey key
        && client.equals(key.client)
        && server.equals(key.server)
        && zone == key.zone;
  }

  @Override
  public int hashCode() {
    return (31 * client.hashCode() + server.hashCode()) * 31 + zone;
  }

  @Override
  public String toString() {
    return text(client) + " to " + text(server);
  }

  private static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /**
   * Both addresses, the client's first: each its length, itself, the server's with the zone if
   * there is one, and its port; big-endian.
   */
  public byte[] encoded() {
    ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
    encode(bytes);
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  void encode(ByteBuffer to) {
    encode(to, client, 0);
    encode(to, server, zone);
  }

  private static void encode(ByteBuffer to, InetSocketAddress address, int zone) {
    byte[] ip = address.getAddress().getAddress();
    if (zone == 0) {
      to.put((byte) ip.length).put(ip);
    } else {
      to.put((byte) ZONED_BYTES).put(ip).putInt(zone);
    }
    to.putShort((short) address.getPort());
  }

  static ConnectionKey decode(ByteBuffer from) throws MalformedFrameException {
    InetSocketAddress client = decodeAddress(from, Wire.unsignedByte(from));
    int length = Wire.unsignedByte(from);
    if (length != ZONED_BYTES) {
      return new ConnectionKey(client, decodeAddress(from, length), 0);
    }
    byte[] ip = Wire.bytes(from, IPV6_BYTES);
    int zone = Wire.id(from);
    ConnectionKey key = new ConnectionKey(client, address(ip, from), zone);
    if (zone == 0 || key.zone != zone) {
      throw new MalformedFrameException("a zone of " + key);
    }
    return key;
  }

  private static InetSocketAddress decodeAddress(ByteBuffer from, int length)
      throws MalformedFrameException {
    if (length != IPV4_BYTES && length != IPV6_BYTES) {
      throw new MalformedFrameException("an address of " + length + " bytes");
    }
    return address(Wire.bytes(from, length), from);
  }

  private static InetSocketAddress address(byte[] ip, ByteBuffer from)
      throws MalformedFrameException {
    try {
      return new InetSocketAddress(InetAddress.getByAddress(ip), Wire.unsignedShort(from));
    } catch (UnknownHostException e) {
      throw new MalformedFrameException("an address: " + e.getMessage());
    }
  }
}

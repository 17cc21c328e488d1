// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import java.io.IOException;
import java.net.Inet4Address;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * What /proc/net says about this process's network namespace: routes and neighbours of IPv4 only,
 * because /proc does not show the neighbours of IPv6, and whose its sockets are. Does file work:
 * not for the program's threads.
 */
public final class ProcNet {
  /** What {@link #neighbour} gives for an address that is no neighbour's. */
  public static final long NO_HARDWARE_ADDRESS = -1;

  private static final Path NET = Path.of("/proc/net");
  private static final String SPACE = "\\s+";
  private static final int HEX = 16;

  /** How a link of a process's descriptor begins that is a socket. */
  private static final String SOCKET = "socket:[";

  /** A column of /proc/net/tcp. */
  private static final int TCP_INODE = 9;

  /** Columns of /proc/net/route. */
  private static final int ROUTE_DEVICE = 0;

  private static final int ROUTE_DESTINATION = 1;
  private static final int ROUTE_FLAGS = 3;
  private static final int ROUTE_METRIC = 6;
  private static final int ROUTE_MASK = 7;

  private static final int ROUTE_UP = 0x1;
  private static final int ROUTE_GATEWAY = 0x2;
  private static final int ROUTE_REJECT = 0x200;

  /** Columns of /proc/net/arp. */
  private static final int ARP_ADDRESS = 0;

  private static final int ARP_TYPE = 1;
  private static final int ARP_FLAGS = 2;
  private static final int ARP_HARDWARE = 3;
  private static final int ARP_DEVICE = 5;

  private static final int ARP_ETHERNET = 1;
  private static final int ARP_COMPLETE = 0x2;
  private static final int ARP_PERMANENT = 0x4;

  private ProcNet() {}

  static String read(String name) throws IOException {
    return Files.readString(NET.resolve(name), StandardCharsets.ISO_8859_1);
  }

  /**
   * Whether a TCP socket that this process has is one of its own network namespace. A super-server
   * may have made it in another one, and handed it over.
   *
   * @param descriptor the socket's number
   * @return false also if that cannot be found out
   */
  public static boolean hasSocket(int descriptor) {
    try {
      String link =
          Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(descriptor))).toString();
      return link.startsWith(SOCKET)
          && hasSocket(
              link.substring(SOCKET.length(), link.length() - 1),
              read("tcp"),
              Files.exists(NET.resolve("tcp6")) ? read("tcp6") : "");
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  static boolean hasSocket(String inode, String... tables) {
    for (String table : tables) {
      for (String line : table.split("\n", -1)) {
        String[] fields = line.trim().split(SPACE);
        if (fields.length > TCP_INODE && fields[TCP_INODE].equals(inode)) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Whether only the main table of routes counts: another one may lead elsewhere than {@link
   * #device} says.
   *
   * @throws IOException if that cannot be found out
   */
  public static boolean hasOneTable() throws IOException {
    return hasOneTable(read("fib_triestat"));
  }

  /** Tables other than the two that each namespace has are headed by their number. */
  static boolean hasOneTable(String statistics) {
    return statistics.lines().noneMatch(line -> line.startsWith("Id "));
  }

  /**
   * The interface by which an address is reached without a gateway.
   *
   * @return its name; null if there is a gateway, no route, or more than one that is best
   * @throws IOException if that cannot be found out
   */
  public static String device(Inet4Address to) throws IOException {
    return device(read("route"), to);
  }

  static String device(String routes, Inet4Address to) throws IOException {
    int address = number(to);
    String device = null;
    int bestMask = 0;
    long bestMetric = 0;
    boolean found = false;
    for (String line : routes.split("\n", -1)) {
      String[] fields = line.trim().split(SPACE);
      if (fields.length <= ROUTE_MASK || fields[ROUTE_DEVICE].equals("Iface")) {
        continue;
      }
      int flags = hex(fields[ROUTE_FLAGS]);
      int mask = network(hex(fields[ROUTE_MASK]));
      if ((flags & ROUTE_UP) == 0
          || (address & mask) != network(hex(fields[ROUTE_DESTINATION]))
          || (found && Integer.compareUnsigned(mask, bestMask) < 0)) {
        continue;
      }
      long metric = decimal(fields[ROUTE_METRIC]);
      if (found && mask == bestMask && metric > bestMetric) {
        continue;
      }
      boolean twice = found && mask == bestMask && metric == bestMetric;
      boolean direct = !twice && (flags & (ROUTE_GATEWAY | ROUTE_REJECT)) == 0;
      device = direct ? fields[ROUTE_DEVICE] : null;
      found = true;
      bestMask = mask;
      bestMetric = metric;
    }
    return device;
  }

  /**
   * The hardware address that stands for an address on an Ethernet interface.
   *
   * @return 48 bits, or {@link #NO_HARDWARE_ADDRESS}
   * @throws IOException if that cannot be found out
   */
  public static long neighbour(Inet4Address address, String device) throws IOException {
    return neighbour(read("arp"), address, device);
  }

  static long neighbour(String neighbours, Inet4Address address, String device) throws IOException {
    long found = NO_HARDWARE_ADDRESS;
    for (String line : neighbours.split("\n", -1)) {
      String[] fields = line.trim().split(SPACE);
      if (fields.length <= ARP_DEVICE || !fields[ARP_ADDRESS].equals(address.getHostAddress())) {
        continue;
      }
      int flags = hex(fields[ARP_FLAGS]);
      boolean known =
          fields[ARP_DEVICE].equals(device)
              && hex(fields[ARP_TYPE]) == ARP_ETHERNET
              && (flags & ARP_COMPLETE) != 0
              && (flags & ~(ARP_COMPLETE | ARP_PERMANENT)) == 0;
      if (!known || found != NO_HARDWARE_ADDRESS) {
        return NO_HARDWARE_ADDRESS; // also one that is answered for, or on several interfaces
      }
      found = hardwareAddress(fields[ARP_HARDWARE]);
    }
    return found;
  }

  private static long hardwareAddress(String text) throws IOException {
    try {
      return Long.parseUnsignedLong(text.replace(":", "").toLowerCase(Locale.ROOT), HEX);
    } catch (NumberFormatException e) {
      throw new IOException("no hardware address: " + text, e);
    }
  }

  static int hex(String text) throws IOException {
    try {
      return Integer.parseUnsignedInt(text.startsWith("0x") ? text.substring(2) : text, HEX);
    } catch (NumberFormatException e) {
      throw new IOException("no number: " + text, e);
    }
  }

  private static long decimal(String text) throws IOException {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IOException("no number: " + text, e);
    }
  }

  /** An address as a number, in the order of the network. */
  static int number(Inet4Address address) {
    return ByteBuffer.wrap(address.getAddress()).getInt();
  }

  /** What the kernel prints as a number of its own order, in the order of the network. */
  static int network(int printed) {
    return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
        ? printed
        : Integer.reverseBytes(printed);
  }
}

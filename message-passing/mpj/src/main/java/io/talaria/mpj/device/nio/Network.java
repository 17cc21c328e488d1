// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.nio;

import java.net.InetAddress;

/** Networks written as address/prefix length, such as 10.1.0.0/16 or fd00::/8. */
public final class Network {
  private Network() {}

  /**
   * Checks the spelling.
   *
   * @param network such as 10.1.0.0/16
   * @throws IllegalArgumentException if it is none
   */
  public static void check(String network) {
    byte[] base = base(network);
    int bits = bits(network, base);
    if (bits < 0 || bits > base.length * 8) {
      throw new IllegalArgumentException("no network such as 10.1.0.0/16: " + network);
    }
  }

  private static byte[] base(String network) {
    int slash = network.indexOf('/');
    return InetAddress.ofLiteral(slash < 0 ? network : network.substring(0, slash)).getAddress();
  }

  private static int bits(String network, byte[] base) {
    int slash = network.indexOf('/');
    return slash < 0 ? base.length * 8 : Integer.parseInt(network.substring(slash + 1));
  }

  /**
   * Whether an address is of a network.
   *
   * @param network one that {@link #check} passes
   * @param address of whatever family
   */
  static boolean holds(String network, InetAddress address) {
    byte[] base = base(network);
    int bits = bits(network, base);
    byte[] mine = address.getAddress();
    if (mine.length != base.length) {
      return false;
    }
    for (int i = 0; i < bits; i++) {
      int mask = 0x80 >> i % 8;
      if ((mine[i / 8] & mask) != (base[i / 8] & mask)) {
        return false;
      }
    }
    return true;
  }
}

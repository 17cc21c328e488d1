// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.NetworkChannel;

/**
 * The local address of a channel as the program may see it: under a security manager not always.
 */
public final class ShownAddress {
  private ShownAddress() {}

  /**
   * The address that the JDK's channel would show.
   *
   * @param control the JDK's channel, open or closed
   * @param known the true address, or null
   */
  public static SocketAddress of(NetworkChannel control, SocketAddress known) {
    if (!(known instanceof InetSocketAddress internet) || !Privileged.guarded()) {
      return known;
    }
    try {
      return control.getLocalAddress(); // asks the security manager
    } catch (IOException e) {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), internet.getPort());
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

/** Listens until it is killed, and prints its port. */
final class ListenerMain {
  private ListenerMain() {}

  public static void main(String[] args) throws Exception {
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      System.out.println(((InetSocketAddress) listener.getLocalAddress()).getPort());
      listener.accept();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.agrona.nio.TransportPoller;

/** Receives a datagram as Aeron's media driver does, by the poller of Agrona 1. */
final class OldAgronaMain {
  private OldAgronaMain() {}

  private static final class Poller extends TransportPoller {
    int receive(DatagramChannel channel) throws Exception {
      channel.register(selector, SelectionKey.OP_READ);
      ByteBuffer received = ByteBuffer.allocate(10);
      while (received.position() == 0) {
        if (selector.select() > 0 && selectedKeySet.size() == 1) {
          channel.receive(received);
          selectedKeySet.reset();
        }
      }
      return received.get(0);
    }
  }

  public static void main(String[] args) throws Exception {
    try (Selector ordinary = Selector.open();
        Poller poller = new Poller();
        DatagramChannel channel = DatagramChannel.open()) {
      channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      channel.configureBlocking(false);
      channel.send(ByteBuffer.wrap(new byte[] {42}), channel.getLocalAddress());
      System.out.println(
          ordinary.getClass().getSimpleName() + " received " + poller.receive(channel));
    }
  }
}

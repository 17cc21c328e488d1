// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Connects to itself by one link-local address that two interfaces have, from one port each time,
 * so that only the interfaces tell the two connections apart. Checks that each carries its own
 * bytes, and says {@code @used} in the end.
 */
public final class TwoZones {
  private static final long SETTLE_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final int EXCHANGES = 200;

  private TwoZones() {}

  /**
   * Runs the program.
   *
   * @param arguments address, from (the clients' port), rounds
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress("::", 0));
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            for (int round = 0; round < args.count("rounds", 4); round++) {
              use(args, listener, port);
            }
          }
          Console.say("used");
          Console.awaitEnd();
        });
  }

  private static InetSocketAddress at(Args args, String device, int port) throws IOException {
    byte[] address = InetAddress.getByName(args.text("address", "fe80::78")).getAddress();
    int zone = NetworkInterface.getByName(device).getIndex();
    return new InetSocketAddress(Inet6Address.getByAddress(null, address, zone), port);
  }

  private static SocketChannel connect(Args args, String device, int port) throws IOException {
    SocketChannel channel = SocketChannel.open();
    channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
    channel.bind(at(args, device, args.count("from", 40_003)));
    channel.connect(at(args, device, port));
    return channel;
  }

  /** Both stand, and perhaps both are offered, before the first is accepted. */
  private static void use(Args args, ServerSocketChannel listener, int port) throws IOException {
    try (SocketChannel one = connect(args, "eth0", port);
        SocketChannel other = connect(args, "eth1", port)) {
      LockSupport.parkNanos(SETTLE_NS);
      try (SocketChannel first = listener.accept();
          SocketChannel second = acceptLater(listener)) {
        boolean inOrder = zone(first) == zone(one);
        for (int i = 0; i < EXCHANGES; i++) {
          exchange(one, inOrder ? first : second, (byte) 1);
          exchange(other, inOrder ? second : first, (byte) 2);
          LockSupport.parkNanos(SETTLE_NS / EXCHANGES);
        }
      }
    }
  }

  /** What was accepted before may be matched with an offer meanwhile. */
  private static SocketChannel acceptLater(ServerSocketChannel listener) throws IOException {
    LockSupport.parkNanos(SETTLE_NS);
    return listener.accept();
  }

  private static int zone(SocketChannel channel) throws IOException {
    InetSocketAddress remote = (InetSocketAddress) channel.getRemoteAddress();
    return ((Inet6Address) remote.getAddress()).getScopeId();
  }

  private static void exchange(SocketChannel client, SocketChannel server, byte what)
      throws IOException {
    client.write(ByteBuffer.wrap(new byte[] {what}));
    expect(server, what);
    server.write(ByteBuffer.wrap(new byte[] {(byte) -what}));
    expect(client, (byte) -what);
  }

  private static void expect(SocketChannel channel, byte what) throws IOException {
    ByteBuffer read = ByteBuffer.allocate(1);
    if (channel.read(read) != 1 || read.get(0) != what) {
      throw new IllegalStateException("read " + read.get(0) + " and not " + what);
    }
  }
}

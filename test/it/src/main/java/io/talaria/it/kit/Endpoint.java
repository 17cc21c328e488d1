// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** Opens the listening and connecting channels that a program's arguments ask for. */
public final class Endpoint {
  private static final List<ServerSocketChannel> KEPT = new ArrayList<>();

  private Endpoint() {}

  /**
   * Listens, and says {@code @listening port=...}.
   *
   * @param args {@code bind} (address, default 127.0.0.1), {@code port} (default: any), {@code
   *     backlog}, {@code reusePort} (yes or no)
   * @return the listening channel, blocking
   * @throws IOException if it cannot listen
   */
  public static ServerSocketChannel listen(Args args) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    if (args.is("reusePort", "yes", "no")) {
      server.setOption(StandardSocketOptions.SO_REUSEPORT, true);
    }
    server.bind(
        new InetSocketAddress(args.text("bind", "127.0.0.1"), args.count("port", 0)),
        args.count("backlog", 256));
    Console.say("listening", "port", ((InetSocketAddress) server.getLocalAddress()).getPort());
    return server;
  }

  /**
   * The server's address.
   *
   * @param args {@code host} (default 127.0.0.1) and {@code port}
   * @return the address
   */
  public static InetSocketAddress server(Args args) {
    return new InetSocketAddress(args.text("host", "127.0.0.1"), args.count("port", 0));
  }

  /**
   * Makes this side's end of the only connection between two programs.
   *
   * @param args {@code role} (server or client), the address as above, {@code from} (the client's
   *     own port, default: any), and {@code listener} (keep, or close as soon as the connection is
   *     accepted)
   * @return the connection, blocking
   * @throws IOException if there is none
   */
  public static SocketChannel open(Args args) throws IOException {
    if (args.is("role", "server", "client")) {
      ServerSocketChannel server = listen(args);
      SocketChannel channel = accepted(server.accept());
      if (args.is("listener", "close", "keep")) {
        server.close();
      } else {
        KEPT.add(server);
      }
      return channel;
    }
    SocketChannel client = SocketChannel.open();
    int from = args.count("from", 0);
    if (from > 0) {
      client.bind(new InetSocketAddress(from));
    }
    client.connect(server(args));
    return connected(client);
  }

  /**
   * Says {@code @accepted port=...}, the client's port.
   *
   * @param channel just accepted
   * @return the same
   * @throws IOException if the channel cannot tell its address
   */
  public static SocketChannel accepted(SocketChannel channel) throws IOException {
    Console.say("accepted", "port", ((InetSocketAddress) channel.getRemoteAddress()).getPort());
    return channel;
  }

  /**
   * Says {@code @connected port=...}, the client's port.
   *
   * @param channel just connected
   * @return the same
   * @throws IOException if the channel cannot tell its address
   */
  public static SocketChannel connected(SocketChannel channel) throws IOException {
    Console.say("connected", "port", ((InetSocketAddress) channel.getLocalAddress()).getPort());
    return channel;
  }
}

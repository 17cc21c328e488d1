// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.BlockingPump;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.Reactor;
import io.talaria.it.kit.Streams;
import io.talaria.it.kit.Traffic;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Carries checked streams with peers that may die at any moment, and says {@code @opened} for each
 * connection, and {@code @ended in=... out=... ns=...} once both directions have ended by
 * themselves: how, and when by {@link System#nanoTime}, which is one clock for all processes of a
 * host. As a server it accepts every client; as a client it connects at each command {@code connect
 * PORT} or {@code connect PORT HOST}.
 */
public final class Survivor {
  private Survivor() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Streams}, {@link Endpoint}, and io=blocking or selector,
   *     role=server or client
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          boolean server = args.is("role", "server", "client");
          Streams streams = new Streams(args, server);
          if (args.is("io", "selector", "blocking")) {
            select(args, streams, server);
          } else {
            block(args, streams, server);
          }
        });
  }

  private static void block(Args args, Streams streams, boolean server)
      throws IOException, InterruptedException {
    ServerSocketChannel listener = server ? Endpoint.listen(args) : null;
    while (true) {
      SocketChannel channel = server ? listener.accept() : SocketChannel.open(nextPeer());
      Console.say("opened");
      Console.daemon(
          "connection",
          () -> {
            Traffic traffic = streams.traffic(channel);
            BlockingPump.run(traffic);
            ended(traffic);
          });
    }
  }

  private static void select(Args args, Streams streams, boolean server) throws IOException {
    Queue<InetSocketAddress> peers = new ConcurrentLinkedQueue<>();
    Reactor reactor = new Reactor(streams, new Reporter());
    if (server) {
      reactor.add(Endpoint.listen(args));
    } else {
      Console.daemon(
          "commands",
          () -> {
            while (true) {
              peers.add(nextPeer());
              reactor.selector().wakeup();
            }
          });
    }
    while (true) {
      for (InetSocketAddress peer = peers.poll(); peer != null; peer = peers.poll()) {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.connect(peer);
        reactor.add(channel);
      }
      reactor.turn();
    }
  }

  private static InetSocketAddress nextPeer() throws InterruptedException {
    String[] command = Console.command().split(" ");
    if (!command[0].equals("connect")) {
      throw new IllegalStateException("unknown command " + command[0]);
    }
    String host = command.length > 2 ? command[2] : "127.0.0.1";
    return new InetSocketAddress(host, Integer.parseInt(command[1]));
  }

  private static final class Reporter implements Reactor.Listener {
    @Override
    public void opened(Traffic traffic) {
      Console.say("opened");
    }

    @Override
    public void ended(Traffic traffic) throws IOException {
      Survivor.ended(traffic);
    }
  }

  private static void ended(Traffic traffic) throws IOException {
    Console.say(
        "ended",
        "in",
        traffic.inEnd(),
        "out",
        traffic.outEnd(),
        "ns",
        System.nanoTime(),
        "sent",
        traffic.sent(),
        "received",
        traffic.received());
    traffic.close();
  }
}

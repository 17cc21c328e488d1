// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.BlockingPump;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.Greeting;
import io.talaria.it.kit.Reactor;
import io.talaria.it.kit.Streams;
import io.talaria.it.kit.Traffic;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Accepts so many connections and carries a checked stream each way on every one, blocking or with
 * a selector. Says {@code @finished sent=... received=...} when all are done; closes what {@code
 * keep=yes} left open at the command {@code close}.
 */
public final class StreamServer {
  private final Tally tally;
  private final int connections;
  private final boolean greet;

  private StreamServer(Args args) {
    this.tally = new Tally(args);
    this.connections = args.count("connections", 1);
    this.greet = args.is("greet", "yes", "no");
  }

  /**
   * Runs the program.
   *
   * @param arguments see {@link Streams}, {@link Endpoint}, and io=blocking or selector; greet=yes:
   *     begins as {@link Greeting} says
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          StreamServer program = new StreamServer(args);
          Streams streams = new Streams(args, true);
          try (ServerSocketChannel server = Endpoint.listen(args)) {
            if (args.is("io", "selector", "blocking")) {
              program.select(server, streams);
            } else {
              program.block(server, streams);
            }
            program.tally.finish(); // still listening: a late client finds the announcement
          }
          Console.awaitEnd();
        });
  }

  private SocketChannel greeted(SocketChannel channel) throws IOException, InterruptedException {
    if (greet) {
      Greeting.obey(channel);
    }
    return channel;
  }

  private void block(ServerSocketChannel server, Streams streams)
      throws IOException, InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      SocketChannel channel = greeted(server.accept());
      threads.add(
          Console.daemon(
              "connection-" + i,
              () -> {
                Traffic traffic = streams.traffic(channel);
                BlockingPump.run(traffic);
                tally.add(traffic);
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void select(ServerSocketChannel server, Streams streams)
      throws IOException, InterruptedException {
    Reactor reactor = new Reactor(streams, tally::add);
    if (greet) {
      reactor.add(greeted(server.accept()));
    }
    reactor.add(server);
    while (tally.count() < connections) {
      reactor.turn();
    }
  }
}

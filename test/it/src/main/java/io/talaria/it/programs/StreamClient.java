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
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Opens so many connections, some at a time, and carries a checked stream each way on every one
 * from the moment it is connected, blocking or with a selector. Says {@code @finished sent=...
 * received=...} when all are done.
 */
public final class StreamClient {
  private final InetSocketAddress server;
  private final Streams streams;
  private final Tally tally;
  private final int connections;
  private final int parallel;
  private final boolean greet;

  private StreamClient(Args args) {
    this.server = Endpoint.server(args);
    this.streams = new Streams(args, false);
    this.tally = new Tally(args);
    this.connections = args.count("connections", 1);
    this.greet = args.is("greet", "yes", "no");
    this.parallel = Math.min(connections, args.count("parallel", 1));
  }

  /**
   * Runs the program.
   *
   * @param arguments see {@link Streams}, {@link Endpoint}, and io=blocking or selector,
   *     connections, parallel; greet=yes: begins as {@link Greeting} says
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          StreamClient program = new StreamClient(args);
          if (args.is("io", "selector", "blocking")) {
            program.select();
          } else {
            program.block();
          }
          program.tally.finish();
          Console.awaitEnd();
        });
  }

  private SocketChannel greeted(SocketChannel channel) throws IOException, InterruptedException {
    if (greet) {
      Greeting.obey(channel);
    }
    return channel;
  }

  private void block() throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < parallel; i++) {
      threads.add(
          Console.daemon(
              "client-" + i,
              () -> {
                while (next.getAndIncrement() < connections) {
                  Traffic traffic = streams.traffic(greeted(SocketChannel.open(server)));
                  BlockingPump.run(traffic);
                  tally.add(traffic);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void select() throws IOException, InterruptedException {
    Reactor reactor = new Reactor(streams, tally::add);
    int opened = 0;
    while (tally.count() < connections) {
      while (opened < connections && opened - tally.count() < parallel) {
        if (greet) {
          reactor.add(greeted(SocketChannel.open(server)));
        } else {
          SocketChannel channel = SocketChannel.open();
          channel.configureBlocking(false);
          channel.connect(server);
          reactor.add(channel);
        }
        opened++;
      }
      reactor.turn();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Drain;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.Greeting;
import io.talaria.it.kit.Streams;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Reads a checked stream to its end on one connection, and never writes. Says {@code @drained
 * received=... end=...}; with {@code hold=yes} it begins to read at the command {@code read}.
 * Begins as {@link Greeting} says.
 */
public final class Sink {
  private Sink() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint} and {@link Streams}, and io=blocking or selector
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          SocketChannel channel = Endpoint.open(args);
          Greeting.obey(channel);
          Drain drain =
              new Streams(args, args.is("role", "server", "client")).traffic(channel).drain();
          if (args.is("hold", "yes", "no")) {
            Console.awaitCommand("read");
          }
          String end = "eof";
          try {
            drain(channel, drain, args.is("io", "selector", "blocking"));
            drain.checkComplete();
          } catch (IOException failure) {
            end = failure.toString();
          }
          Console.say("drained", "received", drain.position(), "end", end);
          Console.awaitEnd();
        });
  }

  private static void drain(SocketChannel channel, Drain drain, boolean selecting)
      throws IOException {
    if (!selecting) {
      while (drain.step(channel) >= 0) {
        continue;
      }
      return;
    }
    channel.configureBlocking(false);
    Selector selector = Selector.open();
    channel.register(selector, SelectionKey.OP_READ);
    long read;
    do {
      selector.select();
      selector.selectedKeys().clear();
      read = drain.step(channel);
    } while (read >= 0);
  }
}

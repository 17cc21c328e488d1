// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.Greeting;
import io.talaria.it.kit.Source;
import io.talaria.it.kit.Streams;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Writes a stream on one connection and is gone at once, in one of several ways. Begins as {@link
 * Greeting} says.
 */
public final class WriteExit {
  private WriteExit() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint} and {@link Streams}, and io=blocking or selector,
   *     leave=close-exit, close-halt, exit or halt
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          SocketChannel channel = Endpoint.open(args);
          Greeting.obey(channel);
          write(args, channel);
          String leave = args.text("leave", "close-exit");
          if (leave.startsWith("close")) {
            channel.close();
          }
          if (leave.endsWith("halt")) {
            Runtime.getRuntime().halt(0);
          }
          System.exit(0);
        });
  }

  private static void write(Args args, SocketChannel channel) throws Exception {
    Source source =
        new Streams(args, args.is("role", "server", "client")).traffic(channel).source();
    if (!args.is("io", "selector", "blocking")) {
      while (!source.done()) {
        source.step(channel);
      }
      return;
    }
    channel.configureBlocking(false);
    Selector selector = Selector.open();
    channel.register(selector, SelectionKey.OP_WRITE);
    while (!source.done()) {
      selector.select();
      selector.selectedKeys().clear();
      source.step(channel);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.Pattern;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Many connections with one selector, each echoing in turn. Says {@code @connected}, and after each
 * command {@code round} {@code @echoed median=...} (nanoseconds of a round trip) {@code
 * spurious=...} (returns of a select without limit that had nothing, or something wrong, to tell).
 * At {@code idle} it sleeps in select for good; at {@code block} each connection gets a thread that
 * sleeps in a blocking read instead.
 */
public final class EchoClient {
  private static final int MESSAGE_BYTES = 16;

  private final Selector selector = Selector.open();
  private final List<SelectionKey> keys = new ArrayList<>();
  private final ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
  private final int rounds;
  private long position;
  private long spurious;

  private EchoClient(Args args) throws IOException {
    rounds = args.count("rounds", 10);
    for (int i = args.count("connections", 1); i > 0; i--) {
      SocketChannel channel = SocketChannel.open(Endpoint.server(args));
      channel.configureBlocking(false);
      keys.add(channel.register(selector, SelectionKey.OP_READ));
    }
  }

  /**
   * Runs the program.
   *
   * @param arguments port, connections, rounds
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          EchoClient client = new EchoClient(args);
          Console.say("connected");
          while (true) {
            client.obey(Console.command());
          }
        });
  }

  private void obey(String command) throws IOException {
    switch (command) {
      case "round":
        round();
        break;
      case "idle":
        Console.say("idling");
        selector.select();
        throw new IllegalStateException("a select without limit and traffic returned");
      case "block":
        block();
        break;
      default:
        throw new IllegalArgumentException(command);
    }
  }

  private void round() throws IOException {
    long[] times = new long[rounds * keys.size()];
    int count = 0;
    spurious = 0;
    for (int round = 0; round < rounds; round++) {
      for (SelectionKey key : keys) {
        long start = System.nanoTime();
        echo(key);
        times[count++] = System.nanoTime() - start;
      }
    }
    Arrays.sort(times);
    Console.say("echoed", "median", times[count / 2], "spurious", spurious);
  }

  private void echo(SelectionKey key) throws IOException {
    Pattern pattern = new Pattern(1, Long.MAX_VALUE);
    SocketChannel channel = (SocketChannel) key.channel();
    message.clear();
    pattern.fill(message, position);
    message.flip();
    channel.write(message);
    if (message.hasRemaining()) {
      throw new IllegalStateException("no room for a small message");
    }
    message.clear();
    while (message.hasRemaining()) {
      selector.select();
      Set<SelectionKey> selected = selector.selectedKeys();
      if (selected.size() != 1 || !selected.contains(key) || !key.isReadable()) {
        spurious++;
      }
      selected.clear();
      if (channel.read(message) < 0) {
        throw new IllegalStateException("the server closed a connection");
      }
    }
    pattern.check(message.flip(), position);
    position += MESSAGE_BYTES;
  }

  private void block() throws IOException {
    for (SelectionKey key : keys) {
      key.cancel();
    }
    selector.selectNow();
    for (SelectionKey key : keys) {
      SocketChannel channel = (SocketChannel) key.channel();
      channel.configureBlocking(true);
      Console.daemon(
          "blocked",
          () -> {
            int read = channel.read(ByteBuffer.allocate(1));
            throw new IllegalStateException("a read without traffic returned " + read);
          });
    }
    Console.say("idling");
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Makes one connection after the other from one port, each as soon as the last is reset. As a
 * server it tells each connection its number and counts from there; the client checks that no
 * connection tells what another should, and says {@code @used} in the end.
 */
public final class SamePort {
  private static final int MESSAGE_BYTES = 2 * Long.BYTES;

  private SamePort() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}, and from (the client's port), connections, rounds (most
   *     of a connection)
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          if (args.is("role", "server", "client")) {
            ServerSocketChannel listener = Endpoint.listen(args);
            Console.daemon("accept", () -> accept(listener));
          } else {
            use(args);
            Console.say("used");
          }
          Console.awaitEnd();
        });
  }

  private static void accept(ServerSocketChannel listener) throws IOException {
    while (true) {
      SocketChannel channel = listener.accept();
      Console.daemon("echo", () -> echo(channel));
    }
  }

  /**
   * Answers each message with the connection's own number, which is its first, and the message's.
   */
  private static void echo(SocketChannel channel) {
    ByteBuffer message = ByteBuffer.allocate(MESSAGE_BYTES);
    long number = -1;
    try (channel) {
      while (fill(channel, message)) {
        number = number < 0 ? message.getLong(0) : number;
        message.putLong(0, number);
        write(channel, message);
      }
    } catch (IOException e) {
      // The client has reset it.
    }
  }

  private static void use(Args args) throws IOException {
    int rounds = args.count("rounds", 300);
    ByteBuffer message = ByteBuffer.allocate(MESSAGE_BYTES);
    for (long number = 0; number < args.count("connections", 100); number++) {
      try (SocketChannel channel = SocketChannel.open()) {
        channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        channel.bind(new InetSocketAddress(args.count("from", 0)));
        channel.connect(Endpoint.server(args));
        long most = number % 3 == 0 ? 1 : rounds;
        for (long round = 0; round < most; round++) {
          message.clear().putLong(number).putLong(round);
          write(channel, message);
          if (!fill(channel, message)) {
            throw new IllegalStateException("the end of connection " + number);
          }
          if (message.getLong(0) != number || message.getLong(Long.BYTES) != round) {
            throw new IllegalStateException(
                "connection " + number + " has got what is for " + message.getLong(0));
          }
        }
      }
    }
  }

  private static void write(SocketChannel channel, ByteBuffer message) throws IOException {
    message.rewind();
    while (message.hasRemaining()) {
      channel.write(message);
    }
  }

  private static boolean fill(SocketChannel channel, ByteBuffer message) throws IOException {
    message.clear();
    while (message.hasRemaining()) {
      if (channel.read(message) < 0) {
        return false;
      }
    }
    return true;
  }
}

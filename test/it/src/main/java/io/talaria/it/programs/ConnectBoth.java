// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Connects to a program that connects to this one at the same time, so that neither accepts
 * (simultaneous open); or to itself, if both addresses are one. Each also has a listener of its
 * port at another address, so that the port is announced. Counts to and fro, and says {@code @used}
 * in the end.
 */
public final class ConnectBoth {
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final int MESSAGE_BYTES = 2 * Long.BYTES;

  private ConnectBoth() {}

  /**
   * Runs the program.
   *
   * @param arguments bind and from (its own end), host and port (the other end), rounds
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          InetSocketAddress own =
              new InetSocketAddress(args.text("bind", "127.0.0.1"), args.count("from", 0));
          InetSocketAddress other =
              new InetSocketAddress(args.text("host", "127.0.0.1"), args.count("port", 0));
          try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress("127.0.0.2", own.getPort()));
            try (SocketChannel channel = meet(own, other)) {
              use(args, channel, own.getPort(), other.getPort());
              Console.say("used");
              Console.awaitEnd();
            }
          }
        });
  }

  /** A connect while the other side does not connect is refused, and is repeated. */
  private static SocketChannel meet(InetSocketAddress own, InetSocketAddress other)
      throws IOException {
    while (true) {
      SocketChannel channel = SocketChannel.open();
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.bind(own);
      try {
        channel.connect(other);
        return channel;
      } catch (IOException e) {
        channel.close();
      }
    }
  }

  private static void use(Args args, SocketChannel channel, int own, int other) throws IOException {
    ByteBuffer message = ByteBuffer.allocate(MESSAGE_BYTES);
    for (int round = 0; round < args.count("rounds", 600); round++) {
      message.clear().putLong(own).putLong(round).flip();
      while (message.hasRemaining()) {
        channel.write(message);
      }
      message.clear();
      while (message.hasRemaining()) {
        if (channel.read(message) < 0) {
          throw new IllegalStateException("the end in round " + round);
        }
      }
      if (message.getLong(0) != other || message.getLong(Long.BYTES) != round) {
        throw new IllegalStateException("message " + message.getLong(Long.BYTES) + " in " + round);
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }
}

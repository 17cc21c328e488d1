// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Connections that are to fail, with blocking calls. Commands, with the number of a connection:
 * {@code connect} says {@code @connected port=...}; {@code echo N} makes a few round trips and says
 * {@code @echoed} or {@code @ended port=... in=... out=...}; {@code sleep N} sleeps in a read, and
 * {@code stream N} writes and reads without end, until the connection fails: then {@code @ended}.
 * What a connection that ended has left is closed.
 */
public final class EchoGuest {
  private static final int ROUND_TRIPS = 200;
  private static final int MESSAGE_BYTES = 2000; // too much for an inline ring
  private static final int STREAM_BYTES = 5000;

  private final Args args;
  private final List<SocketChannel> channels = new ArrayList<>();

  private EchoGuest(Args args) {
    this.args = args;
  }

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          EchoGuest guest = new EchoGuest(args);
          while (true) {
            guest.obey(Console.command().split(" "));
          }
        });
  }

  private void obey(String[] words) throws IOException {
    if (words[0].equals("connect")) {
      channels.add(Endpoint.connected(SocketChannel.open(Endpoint.server(args))));
      return;
    }
    SocketChannel channel = channels.get(Integer.parseInt(words[1]));
    switch (words[0]) {
      case "echo":
        String how = failureOf(() -> echo(channel));
        if (how == null) {
          Console.say("echoed");
        } else {
          ended(channel, how, failureOf(() -> writeOnce(channel)));
        }
        break;
      case "sleep":
        Console.daemon("sleeper", () -> sleep(channel));
        break;
      case "stream":
        Console.daemon("reader", () -> stream(channel));
        break;
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  private static void echo(SocketChannel channel) throws IOException {
    ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
    for (int i = 0; i < ROUND_TRIPS; i++) {
      message.clear();
      channel.write(message);
      message.clear();
      while (message.hasRemaining()) {
        if (channel.read(message) < 0) {
          throw new EOFException("eof");
        }
      }
    }
  }

  private static void sleep(SocketChannel channel) throws IOException {
    String in = failureOf(() -> readAll(channel));
    ended(channel, in, failureOf(() -> writeOnce(channel)));
  }

  private static void stream(SocketChannel channel) throws IOException, InterruptedException {
    String[] out = new String[1];
    Thread writer =
        Console.daemon(
            "writer",
            () -> {
              ByteBuffer from = ByteBuffer.allocateDirect(STREAM_BYTES);
              out[0] =
                  failureOf(
                      () -> {
                        while (true) {
                          from.clear();
                          channel.write(from);
                        }
                      });
            });
    String in = failureOf(() -> readAll(channel));
    writer.join();
    ended(channel, in, out[0]);
  }

  private static void readAll(SocketChannel channel) throws IOException {
    ByteBuffer to = ByteBuffer.allocate(STREAM_BYTES);
    while (channel.read(to) >= 0) {
      to.clear();
    }
    throw new EOFException("eof");
  }

  private static void writeOnce(SocketChannel channel) throws IOException {
    channel.write(ByteBuffer.allocate(1));
  }

  private static void ended(SocketChannel channel, String in, String out) throws IOException {
    int port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
    channel.close();
    Console.say("ended", "port", port, "in", in, "out", out);
  }

  @FunctionalInterface
  private interface Io {
    void run() throws IOException;
  }

  private static String failureOf(Io io) {
    try {
      io.run();
      return null;
    } catch (IOException failure) {
      return describe(failure);
    }
  }

  static String describe(IOException failure) {
    return failure.getClass().getSimpleName() + ":" + failure.getMessage();
  }
}

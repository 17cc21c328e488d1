// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Echoes streams of any length with one selector, and outlives what happens to them: says {@code
 * @ended port=... how=...} (the client's port) for each that fails. With {@code look=spin} it never
 * sleeps in a select.
 */
public final class EchoHost {
  private static final int BUFFER_BYTES = 16 << 10;

  private EchoHost() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}, and look=sleep or spin
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          boolean spins = args.is("look", "spin", "sleep");
          Selector selector = Selector.open();
          ServerSocketChannel server = Endpoint.listen(args);
          server.configureBlocking(false);
          server.register(selector, SelectionKey.OP_ACCEPT);
          while (true) {
            if (spins) {
              selector.selectNow();
            } else {
              selector.select();
            }
            List<SelectionKey> ready = new ArrayList<>(selector.selectedKeys());
            selector.selectedKeys().clear();
            for (SelectionKey key : ready) {
              if (key.isValid() && key.isAcceptable()) {
                accept(selector, server);
              } else if (key.isValid()) {
                echo(key);
              }
            }
          }
        });
  }

  private static void accept(Selector selector, ServerSocketChannel server) throws IOException {
    for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(BUFFER_BYTES));
    }
  }

  private static void echo(SelectionKey key) throws IOException {
    SocketChannel channel = (SocketChannel) key.channel();
    ByteBuffer buffer = (ByteBuffer) key.attachment();
    int port = ((InetSocketAddress) channel.getRemoteAddress()).getPort();
    try {
      int read = channel.read(buffer);
      buffer.flip();
      channel.write(buffer);
      buffer.compact();
      if (read < 0) {
        channel.close();
        Console.say("ended", "port", port, "how", "eof");
        return;
      }
    } catch (IOException failure) {
      channel.close();
      Console.say("ended", "port", port, "how", EchoGuest.describe(failure));
      return;
    }
    key.interestOps(
        (buffer.hasRemaining() ? SelectionKey.OP_READ : 0)
            | (buffer.position() > 0 ? SelectionKey.OP_WRITE : 0));
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Echoes small messages on many connections with one selector. Counts the returns of a select
 * without limit that have nothing to tell, and says {@code @spurious count=...} at the command
 * {@code report}.
 */
public final class EchoServer {
  private static volatile boolean reportWanted;

  private EchoServer() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Selector selector = Selector.open();
          ServerSocketChannel server = Endpoint.listen(args);
          server.configureBlocking(false);
          server.register(selector, SelectionKey.OP_ACCEPT);
          Console.daemon(
              "commands",
              () -> {
                while (true) {
                  Console.awaitCommand("report");
                  reportWanted = true;
                  selector.wakeup();
                }
              });
          serve(selector, server);
        });
  }

  private static void serve(Selector selector, ServerSocketChannel server) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
    long spurious = 0;
    while (true) {
      int ready = selector.select();
      if (reportWanted) {
        reportWanted = false;
        Console.say("spurious", "count", spurious);
      } else if (ready == 0) {
        spurious++;
      }
      for (SelectionKey key : selector.selectedKeys()) {
        if (key.isAcceptable()) {
          accept(selector, server);
        } else {
          echo(key, buffer);
        }
      }
      selector.selectedKeys().clear();
    }
  }

  private static void accept(Selector selector, ServerSocketChannel server) throws IOException {
    for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ);
    }
  }

  /** Small messages in turn always fit, so that a partial write would be a defect. */
  private static void echo(SelectionKey key, ByteBuffer buffer) throws IOException {
    SocketChannel channel = (SocketChannel) key.channel();
    buffer.clear();
    int read;
    try {
      read = channel.read(buffer);
    } catch (SocketException reset) {
      read = -1; // the client's affair: it says what it expects
    }
    if (read < 0) {
      channel.close();
      return;
    }
    buffer.flip();
    channel.write(buffer);
    if (buffer.hasRemaining()) {
      throw new IllegalStateException("no room for " + buffer.remaining() + " bytes of echo");
    }
  }
}

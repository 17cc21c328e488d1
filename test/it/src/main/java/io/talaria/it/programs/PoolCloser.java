// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * One selector that gives every byte back, and a pool that closes a connection as soon as it is
 * asked to by {@link #CLOSE}, or as its stream has ended.
 */
public final class PoolCloser {
  /** Has the connection closed. */
  public static final byte CLOSE = 'c';

  private PoolCloser() {}

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
          ExecutorService pool = Executors.newSingleThreadExecutor();
          while (true) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
              if (key.isValid()) {
                handle(key, pool);
              }
            }
            selector.selectedKeys().clear();
          }
        });
  }

  private static void handle(SelectionKey key, ExecutorService pool) throws IOException {
    if (key.isAcceptable()) {
      SocketChannel accepted = ((ServerSocketChannel) key.channel()).accept();
      if (accepted != null) {
        accepted.configureBlocking(false);
        accepted.register(key.selector(), SelectionKey.OP_READ);
      }
      return;
    }
    SocketChannel channel = (SocketChannel) key.channel();
    ByteBuffer one = ByteBuffer.allocate(1);
    if (channel.read(one) < 0 || one.get(0) == CLOSE) {
      key.interestOps(0);
      pool.execute(() -> close(channel));
    } else {
      channel.write(one.flip());
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      Console.fail(e);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Wire;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Echoes on one short connection after another, at several listeners, each with a thread of its own
 * that uses blocking calls or a selector. Says {@code @listening ports=PORT,PORT...}.
 */
public final class SoakHost {
  private SoakHost() {}

  /**
   * Runs the program.
   *
   * @param arguments listeners, bytes (of a message); commands: see {@link Heap}
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          StringBuilder ports = new StringBuilder();
          for (int i = 0; i < args.count("listeners", 4); i++) {
            ServerSocketChannel listener = ServerSocketChannel.open();
            listener.bind(new InetSocketAddress("127.0.0.1", 0), 1024);
            ports.append(i == 0 ? "" : ",");
            ports.append(((InetSocketAddress) listener.getLocalAddress()).getPort());
            boolean selecting = i % 2 == 1;
            Console.daemon("listener-" + i, () -> serve(listener, selecting, args));
          }
          Console.say("listening", "ports", ports);
          Heap.sayWhenAsked();
          Thread.currentThread().join();
        });
  }

  private static void serve(ServerSocketChannel listener, boolean selecting, Args args)
      throws IOException {
    ByteBuffer message = ByteBuffer.allocateDirect(args.count("bytes", 64));
    while (true) {
      SocketChannel channel = listener.accept();
      try (Wire wire = new Wire(channel, selecting)) {
        while (wire.read(message.clear())) {
          wire.write(message.flip());
        }
      } catch (SocketException reset) {
        if (!String.valueOf(reset.getMessage()).startsWith("Connection reset")) {
          throw reset;
        }
      }
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Forwards TCP connections to the same port of another address, as a proxy would, with {@code
 * java.net} sockets.
 */
public final class Relay {
  private Relay() {}

  /**
   * Runs the program.
   *
   * @param arguments bind (address), port, and host (where to forward to)
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          int port = args.count("port", 0);
          ServerSocket listener =
              new ServerSocket(port, 50, InetAddress.getByName(args.text("bind", "127.0.0.1")));
          Console.say("listening", "port", port);
          Console.daemon("relay", () -> relay(listener, args));
          Console.awaitEnd();
        });
  }

  private static void relay(ServerSocket listener, Args args) throws IOException {
    while (true) {
      Socket front = listener.accept();
      Socket back = new Socket(args.text("host", "127.0.0.1"), listener.getLocalPort());
      Console.daemon("forth", () -> copy(front, back));
      Console.daemon("back", () -> copy(back, front));
    }
  }

  private static void copy(Socket from, Socket to) throws IOException {
    from.getInputStream().transferTo(to.getOutputStream());
    to.shutdownOutput();
  }
}

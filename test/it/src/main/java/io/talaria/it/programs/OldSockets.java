// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Arrays;

/**
 * A program as old as sockets: {@code new Socket(host, port)}, {@code ServerSocket.accept} and a
 * thread for each connection. The server sends back what it gets, a block at a time; the client
 * sends blocks of growing size at the command {@code use}, checks them and says {@code @used}.
 *
 * <p>{@code role=server|client}, {@code port}.
 */
public final class OldSockets {
  private static final int MAX_SIZE = 3_000_000;

  private OldSockets() {}

  /**
   * Runs the program.
   *
   * @param arguments see above
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          if (args.is("role", "server", "client")) {
            serve();
          } else {
            use(args);
          }
        });
  }

  private static void serve() throws IOException, InterruptedException {
    ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    Console.say("listening", "port", listener.getLocalPort());
    Console.daemon(
        "acceptor",
        () -> {
          while (true) {
            Socket socket = listener.accept();
            Console.daemon("server-" + socket.getPort(), () -> echo(socket));
          }
        });
    while (Console.command().equals("use")) {
      Console.say("used");
    }
  }

  private static void echo(Socket socket) throws IOException {
    try (socket) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      while (true) {
        byte[] block = new byte[in.readInt()];
        in.readFully(block);
        out.writeInt(block.length);
        out.write(block);
      }
    } catch (EOFException e) {
      // The client has closed.
    }
  }

  private static void use(Args args) throws IOException, InterruptedException {
    try (Socket socket = new Socket("127.0.0.1", args.count("port", 0))) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      socket.setSoTimeout(20);
      try {
        throw new IllegalStateException("read " + in.read() + " that nobody sent");
      } catch (SocketTimeoutException e) {
        socket.setSoTimeout(20_000);
      }
      Console.say("connected", "port", socket.getLocalPort());
      while (Console.command().equals("use")) {
        for (int size = 1; size <= MAX_SIZE; size *= 7) {
          byte[] block = new byte[size];
          Arrays.fill(block, (byte) size);
          Thread writer = Console.daemon("writer", () -> write(out, block));
          byte[] back = new byte[in.readInt()];
          in.readFully(back);
          if (!Arrays.equals(block, back)) {
            throw new IllegalStateException("a block of " + size + " bytes came back changed");
          }
          writer.join();
        }
        Console.say("used");
      }
    }
  }

  private static void write(DataOutputStream out, byte[] block) throws IOException {
    out.writeInt(block.length);
    out.write(block);
  }
}

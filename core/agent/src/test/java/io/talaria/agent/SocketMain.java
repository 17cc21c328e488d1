// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A program of {@code java.net.Socket}. */
public final class SocketMain {
  private SocketMain() {}

  /**
   * Prints what {@link #exchange} returns.
   *
   * @param args not used
   * @throws IOException if sockets do not work
   */
  public static void main(String[] args) throws IOException {
    System.out.println(exchange());
  }

  /** Sends a 7 from one socket to another, and returns "read 7". */
  static String exchange() throws IOException {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
        Socket accepted = listener.accept()) {
      accepted.getOutputStream().write(7);
      return "read " + client.getInputStream().read();
    }
  }
}

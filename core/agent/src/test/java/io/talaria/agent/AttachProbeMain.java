// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** The program to which the agent is attached while it runs: it does as its standard input says. */
public final class AttachProbeMain {
  /** The command that prints the provider of a new channel. */
  static final String PROVIDER = "provider";

  /** The command that prints what {@link SocketMain#exchange} returns. */
  static final String SOCKETS = "sockets";

  private AttachProbeMain() {}

  /**
   * Prints "ready", then the result of each line of the standard input, which is one of the above
   * commands or the name of a property.
   *
   * @param args not used
   * @throws IOException if no channel can be made
   */
  public static void main(String[] args) throws IOException {
    System.out.println("ready");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(run(line));
    }
  }

  private static String run(String line) throws IOException {
    if (line.equals(SOCKETS)) {
      return SocketMain.exchange();
    }
    if (!line.equals(PROVIDER)) {
      return System.getProperty(line);
    }
    try (SocketChannel channel = SocketChannel.open()) {
      return channel.provider().getClass().getName();
    }
  }
}

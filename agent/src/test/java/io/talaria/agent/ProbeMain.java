// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/** The program under the agent: makes a channel and prints whose it is, and what was set. */
public final class ProbeMain {
  private ProbeMain() {}

  /**
   * Prints the provider's name, then the values of the properties named.
   *
   * @param args names of system properties
   * @throws IOException if no channel can be made
   */
  public static void main(String[] args) throws IOException {
    try (SocketChannel channel = SocketChannel.open()) {
      System.out.println(channel.provider().getClass().getName());
    }
    for (String property : args) {
      System.out.println(property + "=" + System.getProperty(property));
    }
  }
}

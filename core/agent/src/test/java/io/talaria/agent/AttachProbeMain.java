// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/** The program to which the agent is attached while it runs: it does as its standard input says. */
public final class AttachProbeMain {
  private AttachProbeMain() {}

  /**
   * Prints "ready", then for each byte of the standard input the provider of a new channel.
   *
   * @param args not used
   * @throws IOException if no channel can be made
   */
  public static void main(String[] args) throws IOException {
    System.out.println("ready");
    while (System.in.read() >= 0) {
      try (SocketChannel channel = SocketChannel.open()) {
        System.out.println(channel.provider().getClass().getName());
      }
    }
  }
}

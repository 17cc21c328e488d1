// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.io.File;
import java.io.IOException;
import java.nio.channels.SocketChannel;

/** The program under the agent: makes a channel and prints whose it is, and what was set. */
public final class ProbeMain {
  private ProbeMain() {}

  /**
   * Prints the provider's name, then the values of the properties named; of a directory its
   * counters files, before the first channel is made and after.
   *
   * @param args names of system properties, or directories
   * @throws IOException if no channel can be made
   */
  public static void main(String[] args) throws IOException {
    for (String directory : args) {
      if (isDirectory(directory)) {
        System.out.println(counters(directory));
      }
    }
    try (SocketChannel channel = SocketChannel.open()) {
      System.out.println(channel.provider().getClass().getName());
    }
    for (String word : args) {
      System.out.println(
          isDirectory(word) ? counters(word) : word + "=" + System.getProperty(word));
    }
  }

  private static boolean isDirectory(String word) {
    return word.startsWith("/");
  }

  private static String counters(String directory) {
    String[] found = new File(directory).list((dir, name) -> name.endsWith(".counters"));
    return found == null ? "none" : String.join(" ", found);
  }
}

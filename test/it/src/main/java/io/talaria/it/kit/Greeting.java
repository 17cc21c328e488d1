// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * One byte each way on a blocking connection before the program's work begins: at each command
 * {@code greet}, until the command {@code go}. Both sides do it at once. An upgrade needs both
 * programs to read, so this is what a test lets them do until the connection is in the mode it
 * wants.
 */
public final class Greeting {
  private static final byte HELLO = 7;

  private Greeting() {}

  /**
   * Obeys the commands until {@code go}; says {@code @greeted} after each byte.
   *
   * @param channel the connection, blocking
   * @throws IOException as the channel throws it
   * @throws InterruptedException if this thread is interrupted
   */
  public static void obey(SocketChannel channel) throws IOException, InterruptedException {
    ByteBuffer one = ByteBuffer.allocate(1);
    while (Console.command().equals("greet")) {
      one.put(0, HELLO).clear();
      channel.write(one);
      one.clear();
      if (channel.read(one) != 1 || one.get(0) != HELLO) {
        throw new IllegalStateException("no greeting, but " + one.get(0));
      }
      Console.say("greeted");
    }
  }
}

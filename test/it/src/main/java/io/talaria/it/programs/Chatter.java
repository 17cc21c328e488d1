// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.Greeting;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * One connection on which this side, after a {@link Greeting}, does as it is told: {@code chat N}: sends so many single bytes at
 * random intervals, and says {@code @chatted}; {@code drain N}: reads so many bytes, and says {@code
 * @drained}.
 */
public final class Chatter {
  private Chatter() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          SocketChannel channel = Endpoint.open(args);
          Greeting.obey(channel);
          while (true) {
            String[] command = Console.command().split(" ");
            int count = Integer.parseInt(command[1]);
            if (command[0].equals("chat")) {
              chat(channel, count);
            } else {
              drain(channel, count);
            }
          }
        });
  }

  private static void chat(SocketChannel channel, int count) throws IOException {
    Random chance = new Random(count);
    ByteBuffer one = ByteBuffer.allocateDirect(1);
    for (int i = 0; i < count; i++) {
      one.clear();
      channel.write(one);
      LockSupport.parkNanos(chance.nextInt(1 + chance.nextInt(600_000)));
    }
    Console.say("chatted");
  }

  private static void drain(SocketChannel channel, int count) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);
    for (int left = count; left > 0; ) {
      buffer.clear().limit(Math.min(left, buffer.capacity()));
      left -= channel.read(buffer);
    }
    Console.say("drained");
  }
}

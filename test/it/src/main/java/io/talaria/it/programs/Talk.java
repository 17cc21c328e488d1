// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.Pattern;
import io.talaria.it.kit.Wire;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A conversation in turns on one connection: the side that begins sends a message, the other reads
 * it whole and answers, and so on. Both compare each byte. Says {@code @talked} after each part of
 * the conversation, and continues at each command {@code again}; at {@code end} it checks that
 * nothing more has arrived, shuts its output down, and awaits the peer's end.
 */
public final class Talk {
  private Talk() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}, and io=blocking or selector, first=me or you, rounds,
   *     bytes (of a message)
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          boolean server = args.is("role", "server", "client");
          try (Wire wire = new Wire(Endpoint.open(args), args.is("io", "selector", "blocking"))) {
            int bytes = args.count("bytes", 100);
            Talk.Side own = new Side(server ? 2 : 1, bytes);
            Talk.Side other = new Side(server ? 1 : 2, bytes);
            boolean first = args.is("first", "me", "you");
            do {
              for (int round = args.count("rounds", 10); round > 0; round--) {
                if (first) {
                  own.speak(wire);
                }
                other.hear(wire);
                if (!first) {
                  own.speak(wire);
                }
              }
              Console.say("talked");
            } while (Console.command().equals("again"));
            end(wire);
          }
          Console.say("ended");
          Console.awaitEnd();
        });
  }

  private static void end(Wire wire) throws IOException {
    wire.channel().shutdownOutput();
    if (wire.read(ByteBuffer.allocate(1))) {
      throw new IllegalStateException("a byte that nobody sent");
    }
  }

  /** What one side says: an endless patterned stream, cut into messages. */
  private static final class Side {
    private final Pattern pattern;
    private final ByteBuffer message;
    private long position;

    Side(long seed, int bytes) {
      this.pattern = new Pattern(seed, Long.MAX_VALUE);
      this.message = ByteBuffer.allocateDirect(bytes);
    }

    void speak(Wire wire) throws IOException {
      message.clear();
      pattern.fill(message, position);
      position += message.capacity();
      wire.write(message.flip());
    }

    void hear(Wire wire) throws IOException {
      message.clear();
      if (!wire.read(message)) {
        throw new IllegalStateException("the peer ended at byte " + position);
      }
      pattern.check(message.flip(), position);
      position += message.capacity();
    }
  }
}

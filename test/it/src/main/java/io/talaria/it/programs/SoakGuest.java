// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Pattern;
import io.talaria.it.kit.Transports;
import io.talaria.it.kit.Wire;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Connects to a {@link SoakHost}, exchanges some messages until the connection is accelerated,
 * closes it (by a mere close, by a shutdown and the peer's end, or by a reset), and does so again
 * and again in several threads. Says {@code @progress} after each so many connections, and {@code
 * @done} after the last.
 */
public final class SoakGuest {
  private static final int MIN_ROUNDS = 4;
  private static final int MAX_ROUNDS = 2000;
  private static final int ENDS = 3;

  private final Args args;
  private final AtomicLong begun = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicLong accelerated = new AtomicLong();

  private SoakGuest(Args args) {
    this.args = args;
  }

  /**
   * Runs the program.
   *
   * @param arguments ports (of the host), connects, every (so many connections is told), bytes (of
   *     a message); commands: see {@link Heap}
   */
  public static void main(String[] arguments) {
    Console.run(arguments, args -> new SoakGuest(args).run());
  }

  private void run() throws InterruptedException {
    Heap.sayWhenAsked();
    String[] ports = args.text("ports", "").split(",");
    for (int i = 0; i < ports.length; i++) {
      int port = Integer.parseInt(ports[i]);
      boolean selecting = i / 2 % 2 == 1;
      Console.daemon("client-" + i, () -> connectAgainAndAgain(port, selecting));
    }
    Thread.currentThread().join();
  }

  private void connectAgainAndAgain(int port, boolean selecting) throws IOException {
    long connects = args.number("connects", 1000);
    long every = args.number("every", 1000);
    ByteBuffer message = ByteBuffer.allocateDirect(args.count("bytes", 64));
    for (long number = begun.getAndIncrement();
        number < connects;
        number = begun.getAndIncrement()) {
      converse(new InetSocketAddress("127.0.0.1", port), selecting, number, message);
      long done = ended.incrementAndGet();
      if (done % every == 0 || done == connects) {
        Console.say(
            done == connects ? "done" : "progress", "connects", done, "fast", accelerated.get());
      }
    }
  }

  private void converse(
      InetSocketAddress server, boolean selecting, long number, ByteBuffer message)
      throws IOException {
    Pattern pattern = new Pattern(Pattern.mix(number + 1), Long.MAX_VALUE);
    try (Wire wire = new Wire(SocketChannel.open(server), selecting)) {
      long position = 0;
      boolean fast = false;
      for (int round = 0; round < MAX_ROUNDS && (round < MIN_ROUNDS || !fast); round++) {
        pattern.fill(message.clear(), position);
        wire.write(message.flip());
        if (!wire.read(message.clear())) {
          throw new IllegalStateException("the host has ended connection " + number);
        }
        pattern.check(message.flip(), position);
        position += message.capacity();
        fast =
            round % MIN_ROUNDS == MIN_ROUNDS - 1
                && Transports.acceleratedInBytes(wire.channel()) > 0;
      }
      if (fast) {
        accelerated.incrementAndGet();
      }
      end(wire, number);
    }
  }

  private static void end(Wire wire, long number) throws IOException {
    if (number % ENDS == 1) {
      wire.channel().shutdownOutput();
      if (wire.read(ByteBuffer.allocate(1))) {
        throw new IllegalStateException("a byte that nobody sent");
      }
    } else if (number % ENDS == 2) {
      wire.channel().setOption(StandardSocketOptions.SO_LINGER, 0);
    }
  }
}

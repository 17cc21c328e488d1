// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.SchedulingDelay;
import io.talaria.it.kit.Transports;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Two connections to a {@link PoolCloser}: in each round one is made, used, and ended, and then the
 * other asks. Says {@code @used rounds=... accelerated=...}, or {@code @late} as {@link
 * ZooKeeperSessions} does.
 */
public final class ClosedNeighbour {
  private static final long LIMIT_NS = 1_000_000_000L;
  private static final long HELP_NS = 3_000_000_000L;
  private static final int LOOK_MS = 20;
  private static final int MAX_ASKED = 2000;

  private final SchedulingDelay delay = new SchedulingDelay();
  private final InetSocketAddress server;
  private final Args args;
  private final Selector selector = Selector.open();
  private int accelerated;

  private ClosedNeighbour(Args args) throws IOException {
    this.args = args;
    this.server = Endpoint.server(args);
  }

  /**
   * Runs the program.
   *
   * @param arguments the address, see {@link Endpoint}; rounds; and end: close (the server closes,
   *     then this side), or shutdown ({@code shutdownOutput}, then {@code close})
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          new ClosedNeighbour(args).use();
          Console.awaitEnd();
        });
  }

  private void use() throws IOException {
    int rounds = args.count("rounds", 100);
    boolean shutdown = args.is("end", "shutdown", "close");
    SocketChannel staying = connect();
    for (int round = 0; round < rounds; round++) {
      SocketChannel leaving = connect();
      for (int i = 0; i < MAX_ASKED && Transports.acceleratedInBytes(leaving) == 0; i++) {
        ask(leaving, round);
      }
      accelerated += Transports.acceleratedInBytes(leaving) > 0 ? 1 : 0;
      if (shutdown) {
        leaving.shutdownOutput();
      } else {
        leaving.write(ByteBuffer.wrap(new byte[] {PoolCloser.CLOSE}));
      }
      awaitEnd(leaving);
      leaving.close(); // whatever this tells the server's selector, that has lost the channel
      for (int i = 0; i < 3; i++) {
        ask(staying, round);
      }
    }
    Console.say("used", "rounds", rounds, "accelerated", accelerated);
  }

  private SocketChannel connect() throws IOException {
    SocketChannel channel = SocketChannel.open(server);
    channel.configureBlocking(false);
    channel.register(selector, SelectionKey.OP_READ);
    return channel;
  }

  private void ask(SocketChannel channel, int round) throws IOException {
    ByteBuffer one = ByteBuffer.wrap(new byte[] {'q'});
    while (one.hasRemaining()) {
      channel.write(one);
    }
    long startNs = System.nanoTime();
    while (!answered(channel)) {
      if (System.nanoTime() - startNs > delay.limitNs(startNs, LIMIT_NS)) {
        String how = answeredWithin(channel) ? "slowly" : helped(channel);
        Console.say("late", "round", round, "accelerated", accelerated, "answered", how);
        throw new IllegalStateException("in round " + round + " a byte was answered " + how);
      }
    }
  }

  private void awaitEnd(SocketChannel channel) throws IOException {
    while (channel.read(ByteBuffer.allocate(1)) >= 0) {
      selector.select(LOOK_MS);
      selector.selectedKeys().clear();
    }
  }

  private boolean answered(SocketChannel channel) throws IOException {
    selector.select(LOOK_MS);
    selector.selectedKeys().clear();
    ByteBuffer one = ByteBuffer.allocate(1);
    int read = channel.read(one);
    if (read < 0) {
      throw new IllegalStateException("the neighbour was closed too");
    }
    return read > 0;
  }

  private boolean answeredWithin(SocketChannel channel) throws IOException {
    long endNs = System.nanoTime() + HELP_NS;
    while (System.nanoTime() < endNs) {
      if (answered(channel)) {
        return true;
      }
    }
    return false;
  }

  /** A new connection wakes the selector of the server. */
  private String helped(SocketChannel channel) throws IOException {
    SocketChannel stranger = SocketChannel.open(server);
    String how = answeredWithin(channel) ? "onceWoken" : "never";
    stranger.close();
    return how;
  }
}

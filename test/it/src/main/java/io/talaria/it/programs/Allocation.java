// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/**
 * Small messages to and fro on one connection. After each command {@code go} it says
 * {@code @measured bytes=...}: what its thread has allocated in so many rounds. The server echoes.
 */
public final class Allocation {
  private static final int MESSAGE_BYTES = 16;

  private final com.sun.management.ThreadMXBean threads =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final SocketChannel channel;
  private final ByteBuffer message;
  private final Selector selector;
  private final String wait;
  private final boolean server;
  private final boolean wasteful;
  private final Consumer<SelectionKey> ignore = key -> {};
  private byte[] waste = new byte[0];

  private Allocation(Args args) throws IOException {
    channel = Endpoint.open(args);
    server = args.is("role", "server", "client");
    wasteful = args.is("wasteful", "yes", "no");
    wait = args.text("wait", "blocking");
    message =
        args.is("buffers", "heap", "direct")
            ? ByteBuffer.allocate(MESSAGE_BYTES)
            : ByteBuffer.allocateDirect(MESSAGE_BYTES);
    if (wait.equals("blocking")) {
      selector = null;
    } else {
      selector = Selector.open();
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ);
    }
  }

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}; rounds, buffers=direct or heap, wait=blocking,
   *     selectNow, select or consumer, wasteful=yes to allocate on purpose
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Allocation program = new Allocation(args);
          int rounds = args.count("rounds", 20_000);
          while (true) {
            Console.awaitCommand("go");
            Console.say("measured", "bytes", program.measure(rounds));
          }
        });
  }

  private long measure(int rounds) throws IOException {
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < rounds; i++) {
      if (!server) {
        send();
      }
      receive();
      if (server) {
        send();
      }
      if (wasteful) {
        waste = new byte[waste.length == 0 ? 1 : 0];
      }
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  private void send() throws IOException {
    message.clear();
    while (message.hasRemaining()) {
      channel.write(message);
    }
  }

  private void receive() throws IOException {
    message.clear();
    while (message.hasRemaining()) {
      await();
      if (channel.read(message) < 0) {
        throw new IllegalStateException("the peer has closed");
      }
    }
  }

  private void await() throws IOException {
    switch (wait) {
      case "blocking":
        break;
      case "selectNow":
        while (selector.selectNow() == 0) {
          Thread.onSpinWait();
        }
        selector.selectedKeys().clear();
        break;
      case "select":
        selector.select();
        selector.selectedKeys().clear();
        break;
      case "consumer":
        selector.select(ignore);
        break;
      default:
        throw new IllegalArgumentException("wait=" + wait);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Binds listeners and connects to them without end, and exits in the middle of it, slowly. */
public final class Haste {
  /** How long a shutdown hook of the program takes, while the program keeps connecting. */
  private static final long SLOW_NS = 50_000_000L;

  private Haste() {}

  /**
   * Runs the program.
   *
   * @param arguments in=program or hook: whether to connect, once then, only in a shutdown hook;
   *     after=microseconds between the first connection and the exit
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          if (args.is("in", "hook", "program")) {
            Runtime.getRuntime().addShutdownHook(new Thread(Haste::connectOnce));
            return;
          }
          Thread hurried = new Thread(Haste::connect, "hurried");
          hurried.setDaemon(true);
          hurried.start();
          Runtime.getRuntime().addShutdownHook(new Thread(() -> LockSupport.parkNanos(SLOW_NS)));
          TimeUnit.MICROSECONDS.sleep(args.number("after", 0));
        });
  }

  private static void connectOnce() {
    try {
      ServerSocketChannel listener = ServerSocketChannel.open();
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      SocketChannel client = SocketChannel.open(listener.getLocalAddress());
      Console.say("connected", "local", client.getLocalAddress());
    } catch (IOException e) {
      Console.say("failed", "what", e);
    }
  }

  private static void connect() {
    try {
      while (true) {
        ServerSocketChannel listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        for (int i = 0; i < 4; i++) {
          SocketChannel client = SocketChannel.open(listener.getLocalAddress());
          SocketChannel accepted = listener.accept();
          if (i % 2 == 0) {
            client.close();
            accepted.close();
          }
        }
        Thread.yield(); // leave everything open that is
      }
    } catch (IOException e) {
      // No more descriptors: that is enough.
    }
  }
}

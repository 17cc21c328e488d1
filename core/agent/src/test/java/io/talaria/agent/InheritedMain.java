// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import io.talaria.nio.Connections;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that a super-server has started: its standard input is a listener, or a connection,
 * which it has put there itself. Needs {@code --add-opens java.base/sun.nio.ch=ALL-UNNAMED}.
 */
public final class InheritedMain {
  private static final String PACKAGE = "sun.nio.ch.";

  private InheritedMain() {}

  /**
   * Uses what it has inherited.
   *
   * @param arguments whether that is a connection, and whether to wait until its connections are
   *     accelerated; or that it is a listener that another program has put there, of which it only
   *     tells whose it is
   */
  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("given")) {
      try (Channel given = System.inheritedChannel()) {
        System.out.println("package = " + given.getClass().getPackageName());
      }
      return;
    }
    boolean connection = arguments[0].equals("connection");
    SelectorProvider jdk =
        (SelectorProvider)
            Class.forName(PACKAGE + "DefaultSelectorProvider").getMethod("get").invoke(null);
    try (ServerSocketChannel listener = jdk.openServerSocketChannel()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      if (connection) {
        try (SocketChannel client = SocketChannel.open(listener.getLocalAddress());
            SocketChannel accepted = listener.accept()) {
          becomeInput(accepted);
          useConnection(client);
        }
      } else {
        becomeInput(listener);
        useListener(Boolean.parseBoolean(arguments[1]));
      }
    }
  }

  private static void becomeInput(SelectableChannel channel) throws ReflectiveOperationException {
    int descriptor =
        (Integer) Class.forName(PACKAGE + "SelChImpl").getMethod("getFDVal").invoke(channel);
    Method dup =
        Class.forName(PACKAGE + "InheritedChannel").getDeclaredMethod("dup2", int.class, int.class);
    dup.setAccessible(true);
    dup.invoke(null, descriptor, 0);
  }

  private static void useListener(boolean accelerated) throws Exception {
    Channel inherited = System.inheritedChannel();
    System.out.println("same = " + (System.inheritedChannel() == inherited));
    try (ServerSocketChannel listener = (ServerSocketChannel) inherited;
        Selector selector = Selector.open()) {
      listener.configureBlocking(false);
      listener.register(selector, SelectionKey.OP_ACCEPT);
      try (SocketChannel client = SocketChannel.open(listener.getLocalAddress())) {
        System.out.println("accepts = " + selector.select());
        try (SocketChannel server = listener.accept()) {
          int rounds = 0;
          do {
            exchange(client, server);
            exchange(server, client);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
          } while (++rounds < 20 || (accelerated && !allAccelerated()));
        }
        System.out.println("end = " + client.read(ByteBuffer.allocate(1)));
      }
    }
  }

  private static boolean allAccelerated() {
    return Connections.snapshot().stream().allMatch(each -> each.transport().name().equals("SHM"));
  }

  private static void useConnection(SocketChannel client) throws Exception {
    try (SocketChannel inherited = (SocketChannel) System.inheritedChannel();
        Selector selector = Selector.open()) {
      exchange(client, inherited);
      exchange(inherited, client);
      inherited.configureBlocking(false);
      inherited.register(selector, SelectionKey.OP_READ);
      client.write(ByteBuffer.allocate(3));
      System.out.println("selects = " + selector.select());
      System.out.println("reads = " + inherited.read(ByteBuffer.allocate(9)));
    }
  }

  private static void exchange(SocketChannel from, SocketChannel to) throws IOException {
    from.write(ByteBuffer.wrap(new byte[] {5}));
    ByteBuffer read = ByteBuffer.allocate(1);
    to.read(read);
    if (read.get(0) != 5) {
      throw new IllegalStateException("read " + read.get(0));
    }
  }
}

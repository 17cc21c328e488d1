// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.TalariaProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A program that makes connections to itself, uses and closes them, for ever the same few at a
 * time, all of one selector on each side: between two UCX workers. One connection stands from
 * beginning to end, and is used between the others. Each generation waits until all know their way.
 *
 * <p>Says {@code MODE REASON COUNT FIRST} for each way that clients' ends went, FIRST being the
 * connection with which that began, {@code standing ...}, and {@code holds ...}; all bytes are
 * compared. Ends with 0.
 */
final class Churn {
  private static final int AT_ONCE = 64;
  private static final int MESSAGE_BYTES = 16;
  private static final long LIMIT_NS = 60_000_000_000L;
  private static final int REPORT_EVERY = 5_000;

  private final TalariaProvider provider = new TalariaProvider();
  private final ServerSocketChannel listener = provider.openServerSocketChannel();
  private final Selector selector = provider.openSelector();
  private final ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
  private final Map<String, int[]> ways = new TreeMap<>();
  private int made;

  private Churn() throws IOException {
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 256);
  }

  /**
   * Runs it.
   *
   * @param arguments how many connections
   */
  public static void main(String[] arguments) throws IOException {
    make(Integer.parseInt(arguments[0]));
    System.exit(0);
  }

  /** Makes so many connections. */
  static void make(int connections) throws IOException {
    Churn churn = new Churn();
    Thread server = new Thread(churn::serveGuarded, "server");
    server.setDaemon(true);
    server.start();
    churn.run(connections);
  }

  // ---- the server

  private void serveGuarded() {
    try {
      serve();
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }

  private void serve() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(1024);
    Selector all = provider.openSelector();
    listener.configureBlocking(false);
    listener.register(all, SelectionKey.OP_ACCEPT);
    while (true) {
      all.select();
      for (SelectionKey key : all.selectedKeys()) {
        if (key.channel() == listener) {
          SocketChannel accepted = listener.accept();
          while (accepted != null) {
            accepted.configureBlocking(false);
            accepted.register(all, SelectionKey.OP_READ);
            accepted = listener.accept();
          }
        } else {
          echo((SocketChannel) key.channel(), bytes);
        }
      }
      all.selectedKeys().clear();
    }
  }

  private static void echo(SocketChannel channel, ByteBuffer bytes) throws IOException {
    bytes.clear();
    int count = channel.read(bytes);
    bytes.flip();
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
    if (count < 0) {
      channel.close();
    }
  }

  // ---- the client

  private void run(int connections) throws IOException {
    SelectionKey standing = connect();
    while (way(standing).reason() == Reason.PENDING) {
      exchange(List.of(standing));
    }
    while (made < connections) {
      List<SelectionKey> some = new ArrayList<>();
      int before = made;
      for (int i = 0; i < AT_ONCE && made < connections; i++) {
        some.add(connect());
        made++;
      }
      awaitWays(some);
      tally(some);
      exchange(List.of(standing));
      for (SelectionKey key : some) {
        key.channel().close();
      }
      selector.selectNow();
      if (made / REPORT_EVERY != before / REPORT_EVERY) {
        System.out.println(made + " " + lines() + " " + Counts.now());
      }
    }
    lines().forEach(System.out::println);
    System.out.println("standing " + way(standing));
    System.out.println("holds " + Counts.now());
  }

  private List<String> lines() {
    List<String> lines = new ArrayList<>();
    ways.forEach((way, count) -> lines.add(way + " " + count[0] + " " + count[1]));
    return lines;
  }

  private SelectionKey connect() throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(listener.getLocalAddress());
    channel.configureBlocking(false);
    return channel.register(selector, SelectionKey.OP_READ);
  }

  private void awaitWays(List<SelectionKey> keys) throws IOException {
    long start = System.nanoTime();
    do {
      exchange(keys);
      if (System.nanoTime() - start > LIMIT_NS) {
        throw new IllegalStateException("no way is known: " + Connections.snapshot());
      }
    } while (keys.stream().anyMatch(key -> way(key).reason() == Reason.PENDING));
  }

  private void tally(List<SelectionKey> keys) {
    for (SelectionKey key : keys) {
      ConnectionInfo info = way(key);
      String way = info.transport() + " " + info.reason().code();
      int[] count = ways.computeIfAbsent(way, any -> new int[] {0, made});
      count[0]++;
    }
  }

  /** A message there and back on each. */
  private void exchange(List<SelectionKey> keys) throws IOException {
    for (int i = 0; i < keys.size(); i++) {
      SocketChannel channel = (SocketChannel) keys.get(i).channel();
      message.clear();
      message.putLong(0, i).putLong(Long.BYTES, made);
      if (channel.write(message) != MESSAGE_BYTES) {
        throw new IllegalStateException("no room for a small message in " + channel);
      }
    }
    for (int i = 0; i < keys.size(); i++) {
      SocketChannel channel = (SocketChannel) keys.get(i).channel();
      message.clear();
      long start = System.nanoTime();
      while (message.hasRemaining()) {
        if (channel.read(message) < 0) {
          throw new IllegalStateException("the end of " + channel);
        }
        if (message.hasRemaining()) {
          selector.select(1000);
          selector.selectedKeys().clear();
        }
        if (System.nanoTime() - start > LIMIT_NS) {
          throw new IllegalStateException("no answer on " + channel);
        }
      }
      if (message.getLong(0) != i || message.getLong(Long.BYTES) != made) {
        throw new IllegalStateException("other bytes on " + channel);
      }
    }
  }

  private static ConnectionInfo way(SelectionKey key) {
    try {
      Object here = ((SocketChannel) key.channel()).getLocalAddress();
      for (ConnectionInfo each : Connections.snapshot()) {
        if (here.equals(each.local()) && each.role() == Role.CLIENT) {
          return each;
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    throw new IllegalStateException("not listed: " + key.channel());
  }
}

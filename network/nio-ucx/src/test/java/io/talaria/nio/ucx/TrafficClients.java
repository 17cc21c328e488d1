// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.TalariaProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The clients of {@link Traffic}: one thread with a selector that sleeps without limit and makes
 * some connections at a time, and two with connections in blocking mode, which end in all ways.
 * Some of both kinds stand from beginning to end, and are used between the others.
 */
final class TrafficClients {
  private static final int AT_ONCE = 16;
  private static final int STANDING = 3;
  private static final int BLOCKING_THREADS = 2;
  private static final int MAX_BYTES = Integer.getInteger("talaria.test.max.bytes", 300_000);

  /** Whether it waits, with connections that stand and nothing under way, to be killed. */
  private static final boolean RESTS = Boolean.getBoolean("talaria.test.rests");

  private static final int MAX_ECHOED_BYTES = Math.min(MAX_BYTES, TrafficServer.MAX_ECHOED_BYTES);

  private final TalariaProvider provider;
  private final InetSocketAddress server;

  /** Where the server puts the seeds of what has all come; null if it is another process. */
  private final Set<Long> sunk;

  private final Set<Long> toSink = ConcurrentHashMap.newKeySet();
  private final long seed;
  private final AtomicInteger left = new AtomicInteger();
  private final Map<String, Integer> ways = new TreeMap<>();

  TrafficClients(TalariaProvider provider, InetSocketAddress server, Set<Long> sunk, long seed) {
    this.provider = provider;
    this.server = server;
    this.sunk = sunk;
    this.seed = seed;
  }

  /** Makes so many connections. */
  void run(int connections) throws IOException, InterruptedException {
    left.set(connections);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < BLOCKING_THREADS; i++) {
      Random random = new Random(seed + i);
      Thread thread = new Thread(() -> Traffic.orEnd(() -> block(random)), "blocking " + i);
      thread.start();
      threads.add(thread);
    }
    select(threads);
    join(threads);
    while (sunk != null && !sunk.containsAll(toSink)) {
      Thread.onSpinWait();
    }
    ways.forEach((way, count) -> System.out.println(way + " " + count));
    System.out.println("sunk " + toSink.size());
    System.out.println(Traffic.holds());
  }

  private static void join(List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private boolean another() {
    return left.getAndDecrement() > 0;
  }

  // ---- by a selector

  private void select(List<Thread> others) throws IOException, InterruptedException {
    try (Selector selector = provider.openSelector()) {
      List<SocketChannel> standing = new ArrayList<>();
      for (int i = 0; i < STANDING; i++) {
        standing.add(connect(selector));
      }
      int round = 0;
      boolean more = true;
      while (more) {
        List<SocketChannel> some = new ArrayList<>();
        while (some.size() < AT_ONCE && another()) {
          some.add(connect(selector));
        }
        more = some.size() == AT_ONCE;
        do {
          echo(selector, some, round++);
          echo(selector, standing, round++);
        } while (some.stream().anyMatch(channel -> way(channel).reason() == Reason.PENDING));
        for (SocketChannel channel : some) {
          tally(channel);
          channel.close();
        }
        selector.selectNow();
        selector.selectedKeys().clear();
      }
      echo(selector, standing, round);
      if (RESTS) {
        join(others); // one of them may be inside a write
        System.out.println("resting");
        System.in.read(); // until then it is killed
      }
      for (SocketChannel channel : standing) {
        tally(channel);
        channel.close();
      }
    }
  }

  private SocketChannel connect(Selector selector) throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(server);
    channel.configureBlocking(false);
    channel.register(selector, SelectionKey.OP_READ);
    return channel;
  }

  /** Some bytes there and back on each, at once. */
  private static void echo(Selector selector, List<SocketChannel> channels, int round)
      throws IOException {
    for (SocketChannel channel : channels) {
      ByteBuffer bytes = frame(TrafficServer.ECHO, bytes(round), round, bytes(round));
      Pattern.fill(bytes, round, 0);
      int length = bytes.flip().remaining();
      if (channel.write(bytes) != length) {
        throw new IOException("no room for a small message in " + channel);
      }
    }
    for (SocketChannel channel : channels) {
      ByteBuffer back = ByteBuffer.allocate(bytes(round));
      while (back.hasRemaining()) {
        int count = channel.read(back);
        if (count < 0) {
          throw new IOException("the end of " + channel);
        }
        if (count == 0) {
          selector.select();
          selector.selectedKeys().clear();
        }
      }
      Pattern.check(back.flip(), round, 0);
    }
  }

  private static int bytes(int round) {
    return 1 + round % 500;
  }

  private static ByteBuffer frame(int kind, int bytes, long seed, int more) {
    return ByteBuffer.allocate(TrafficServer.FRAME_BYTES + more)
        .put((byte) kind)
        .putInt(bytes)
        .putLong(seed);
  }

  // ---- in blocking mode

  private void block(Random random) throws IOException {
    try (SocketChannel standing = connect()) {
      while (another()) {
        one(random);
        echo(standing, random);
      }
    }
  }

  private SocketChannel connect() throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(server);
    return channel;
  }

  private void one(Random random) throws IOException {
    try (SocketChannel channel = connect()) {
      if (random.nextInt(4) == 0) {
        for (int i = random.nextInt(3); i > 0; i--) {
          echo(channel, random); // and goes on, or ends, while the way is being agreed
        }
      } else {
        do {
          echo(channel, random);
        } while (way(channel).reason() == Reason.PENDING);
        tally(channel);
      }
      switch (random.nextInt(7)) {
        case 0, 1 -> sink(channel, random);
        case 2, 3 -> source(channel, random, TrafficServer.SOURCE);
        case 4, 5 -> source(channel, random, TrafficServer.ANSWER);
        default -> leaveUnread(channel, random);
      }
    }
  }

  private static void echo(SocketChannel channel, Random random) throws IOException {
    int bytes = 1 + random.nextInt(MAX_ECHOED_BYTES);
    long seed = random.nextLong();
    ByteBuffer out = frame(TrafficServer.ECHO, bytes, seed, bytes);
    Pattern.fill(out, seed, 0);
    write(channel, out.flip());
    ByteBuffer back = ByteBuffer.allocate(bytes);
    while (back.hasRemaining()) {
      if (channel.read(back) < 0) {
        throw new IOException("the end of " + channel);
      }
    }
    Pattern.check(back.flip(), seed, 0);
  }

  private static void write(SocketChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** Closes with bytes under way to the server. */
  private void sink(SocketChannel channel, Random random) throws IOException {
    int bytes = random.nextInt(MAX_BYTES);
    long seed = random.nextLong();
    toSink.add(seed);
    ByteBuffer out = frame(TrafficServer.SINK, bytes, seed, bytes);
    Pattern.fill(out, seed, 0);
    write(channel, out.flip());
    if (random.nextBoolean()) {
      channel.shutdownOutput();
    }
  }

  /** The server closes with bytes under way to us. */
  private static void source(SocketChannel channel, Random random, int kind) throws IOException {
    int bytes = random.nextInt(MAX_BYTES);
    long seed = random.nextLong();
    write(channel, frame(kind, bytes, seed, 0).flip());
    if (kind == TrafficServer.ANSWER) {
      channel.shutdownOutput();
    }
    ByteBuffer in = ByteBuffer.allocate(1 + random.nextInt(64 << 10));
    int got = 0;
    int count;
    while ((count = channel.read(in.clear())) >= 0) {
      Pattern.check(in.flip(), seed, got);
      got += count;
    }
    if (got != bytes) {
      throw new IOException("only " + got + " of " + bytes + " bytes of seed " + seed);
    }
  }

  /** Closes with bytes of the server's under way, which is a reset. */
  private static void leaveUnread(SocketChannel channel, Random random) throws IOException {
    int bytes = random.nextInt(MAX_ECHOED_BYTES);
    long seed = TrafficServer.UNREAD;
    ByteBuffer out = frame(TrafficServer.ECHO, bytes, seed, bytes);
    Pattern.fill(out, seed, 0);
    write(channel, out.flip());
  }

  // ---- which way they went

  private synchronized void tally(SocketChannel channel) {
    ConnectionInfo info = way(channel);
    ways.merge(info.transport() + " " + info.reason().code(), 1, Integer::sum);
  }

  static ConnectionInfo way(SocketChannel channel) {
    try {
      Object here = channel.getLocalAddress();
      for (ConnectionInfo each : Connections.snapshot()) {
        if (here.equals(each.local()) && each.role() == Role.CLIENT) {
          return each;
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    throw new IllegalStateException("not listed: " + channel);
  }
}

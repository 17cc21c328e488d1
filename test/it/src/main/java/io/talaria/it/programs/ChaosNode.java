// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.BlockingPump;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Journal;
import io.talaria.it.kit.Loading;
import io.talaria.it.kit.Reactor;
import io.talaria.it.kit.Streams;
import io.talaria.it.kit.Traffic;
import io.talaria.it.kit.Transports;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * One of several equal processes that keep connections to each other, each with a checked stream
 * both ways, and bear what befalls them. Half of the connections it makes and half of those it
 * accepts are carried by blocking calls, the others by two selectors.
 *
 * <p>Says {@code @ready blocking=PORT selector=PORT}, then {@code @status} twice a second, and
 * {@code @broken} for each connection that came to no proper end. Commands: {@code peers
 * ADDRESS:PORT ...} (which peers to connect to from now on, perhaps none) and {@code starve MS}
 * (take all descriptors there are for so long).
 */
public final class ChaosNode {
  private static final int JOURNAL_RECORDS = 8192;
  private static final int BACKLOG = 1024;
  private static final int TICK_MS = 20;
  private static final int TICKS_A_STATUS = 25;
  private static final long PAUSE_NS = 20_000_000L;

  private final InetAddress own;
  private final Streams accepting;
  private final Streams connecting;
  private final Lives lives;
  private final int connections;
  private final Random chance;
  private volatile List<InetSocketAddress> peers = List.of();

  private ChaosNode(Args args) throws IOException {
    this.own = InetAddress.getByName(args.text("bind", "127.0.0.1"));
    this.accepting = new Streams(args, true);
    this.connecting = new Streams(args, false);
    this.lives = new Lives(Journal.create(Path.of(args.text("journal", "")), JOURNAL_RECORDS));
    this.connections = args.count("connections", 16);
    this.chance = new Random(args.number("seed", 1));
  }

  /**
   * Runs the program.
   *
   * @param arguments see {@link Streams}; bind (an address of this process alone), journal (a file
   *     to make), connections (how many to keep open), seed
   */
  public static void main(String[] arguments) {
    Console.run(arguments, args -> new ChaosNode(args).run());
  }

  private void run() throws Exception {
    Loading.all(Transports.class, "");
    Loading.all(ChaosNode.class, "ChaosNode");
    ServerSocketChannel blocking = listen();
    ServerSocketChannel selecting = listen();
    Reactor server = new Reactor(accepting, new Handler());
    server.add(selecting);
    Connector connector = new Connector(connections / 2);
    Console.daemon("server-blocking", () -> accept(blocking));
    Console.daemon("server-selector", () -> turn(server));
    Console.daemon("client-selector", connector::run);
    for (int i = connections / 2; i < connections; i++) {
      Console.daemon("client-" + i, this::connectAgainAndAgain);
    }
    Console.say("ready", "blocking", port(blocking), "selector", port(selecting));
    Console.daemon("ticker", () -> tick(connector.reactor));
    while (true) {
      obey(Console.command());
    }
  }

  private ServerSocketChannel listen() throws IOException {
    return ServerSocketChannel.open().bind(new InetSocketAddress(own, 0), BACKLOG);
  }

  private static int port(ServerSocketChannel listener) throws IOException {
    return ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }

  private void obey(String command) throws IOException {
    String[] words = command.split(" ");
    if (words[0].equals("starve")) {
      long limitMs = Long.parseLong(words[1]);
      Console.daemon("starver", () -> starve(limitMs));
      return;
    }
    if (!words[0].equals("peers")) {
      throw new IllegalStateException("unknown command " + command);
    }
    List<InetSocketAddress> given = new ArrayList<>();
    for (int i = 1; i < words.length; i++) {
      int colon = words[i].indexOf(':');
      given.add(
          new InetSocketAddress(
              words[i].substring(0, colon), Integer.parseInt(words[i].substring(colon + 1))));
    }
    peers = List.copyOf(given);
  }

  private void tick(Reactor client) {
    for (int tick = 1; ; tick++) {
      LockSupport.parkNanos(TICK_MS * 1_000_000L);
      client.selector().wakeup();
      if (tick % TICKS_A_STATUS == 0) {
        lives.sayStatus();
      }
    }
  }

  private InetSocketAddress somePeer() {
    List<InetSocketAddress> now = peers;
    synchronized (chance) {
      return now.isEmpty() ? null : now.get(chance.nextInt(now.size()));
    }
  }

  // ---- with blocking calls

  private void accept(ServerSocketChannel listener) {
    while (true) {
      SocketChannel channel;
      try {
        channel = listener.accept();
      } catch (IOException failure) {
        lives.refused(failure);
        LockSupport.parkNanos(PAUSE_NS);
        continue;
      }
      Console.daemon("connection", () -> pump(accepting.traffic(channel)));
    }
  }

  private void connectAgainAndAgain() throws IOException, InterruptedException {
    while (true) {
      SocketChannel channel = connected(somePeer());
      if (channel == null) {
        LockSupport.parkNanos(PAUSE_NS);
      } else {
        lives.connected();
        pump(connecting.traffic(channel));
      }
    }
  }

  private SocketChannel connected(InetSocketAddress peer) throws IOException {
    if (peer == null) {
      return null;
    }
    SocketChannel channel = null;
    try {
      channel = SocketChannel.open();
      channel.bind(new InetSocketAddress(own, 0)).connect(peer);
      return channel;
    } catch (IOException failure) {
      lives.refused(failure);
      if (channel != null) {
        channel.close();
      }
      return null;
    }
  }

  private void pump(Traffic traffic) throws IOException, InterruptedException {
    lives.begin(traffic);
    BlockingPump.run(traffic);
    lives.end(traffic);
  }

  // ---- with selectors

  private static void turn(Reactor reactor) throws IOException {
    while (true) {
      reactor.turn();
    }
  }

  private class Handler implements Reactor.Listener {
    @Override
    public void opened(Traffic traffic) throws IOException {
      lives.begin(traffic);
    }

    @Override
    public void ended(Traffic traffic) throws IOException {
      lives.end(traffic);
    }

    @Override
    public void failed(SelectableChannel channel, IOException failure) throws IOException {
      lives.refused(failure);
      LockSupport.parkNanos(PAUSE_NS / 10);
    }
  }

  /** Keeps so many connections open. Confined to its thread. */
  private final class Connector extends Handler {
    final Reactor reactor;
    private final int wanted;
    private int open;

    Connector(int wanted) throws IOException {
      this.wanted = wanted;
      this.reactor = new Reactor(connecting, this);
    }

    void run() throws IOException {
      while (true) {
        while (open < wanted && connect(somePeer())) {
          open++;
        }
        reactor.turn();
      }
    }

    private boolean connect(InetSocketAddress peer) throws IOException {
      if (peer == null) {
        return false;
      }
      SocketChannel channel = null;
      try {
        channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.bind(new InetSocketAddress(own, 0)).connect(peer);
      } catch (IOException failure) {
        lives.refused(failure);
        if (channel != null) {
          channel.close();
        }
        return false;
      }
      reactor.add(channel);
      return true;
    }

    @Override
    public void opened(Traffic traffic) throws IOException {
      lives.connected();
      super.opened(traffic);
    }

    @Override
    public void ended(Traffic traffic) throws IOException {
      open--;
      super.ended(traffic);
    }

    @Override
    public void failed(SelectableChannel channel, IOException failure) throws IOException {
      open--;
      channel.close();
      super.failed(channel, failure);
    }
  }

  // ---- without descriptors

  private static void starve(long limitMs) throws IOException {
    long startNs = System.nanoTime();
    Deque<FileInputStream> taken = new ArrayDeque<>();
    int most = 0;
    while (System.nanoTime() - startNs < limitMs * 1_000_000L) {
      try {
        taken.push(new FileInputStream("/dev/null"));
      } catch (IOException noMore) {
        most = Math.max(most, taken.size());
        LockSupport.parkNanos(1_000_000L);
        if (System.nanoTime() % 64 == 0 && !taken.isEmpty()) {
          taken.pop().close(); // one descriptor for the first thread that needs it
        }
      }
    }
    while (!taken.isEmpty()) {
      taken.pop().close();
    }
    Console.say("starved", "took", most);
  }
}

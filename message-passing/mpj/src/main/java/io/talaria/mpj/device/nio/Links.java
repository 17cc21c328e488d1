// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.nio;

import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import io.talaria.mpj.device.frame.Peers;
import io.talaria.mpj.device.transport.EndedLinks;
import io.talaria.mpj.device.transport.FrameTransport;
import io.talaria.nio.transport.KeepAlive;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The connections of a rank: one for each other rank that it talks with, made on first use by
 * whichever of the two is first. If both are at once, the lower rank's is the one.
 *
 * <p>A thread accepts, and others shake hands and connect, so that a rank which computes can be
 * reached; what they have made is taken over under the engine's lock in {@link #round}. A
 * connection whose peer does not prove that it knows the job's secret is closed and counted. All
 * other methods are called under the engine's lock, but for {@link #sleep} and {@link #wake}.
 */
public final class Links implements FrameTransport {
  /** From how many links on a selector is asked which to read. */
  private static final int MAX_POLLED = 8;

  /** How many handshakes may be under way, at least. */
  private static final int MIN_HANDSHAKES = 64;

  private static final int BACKLOG = 256;
  private static final long CONNECT_LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

  /** What is known of the link to a rank; guarded by {@link #states}. */
  private enum State {
    NONE,
    CONNECTING,
    /** Both connect, and the other rank's connection is the one. */
    AWAITED,
    OPEN
  }

  /**
   * What the threads that make connections hand over.
   *
   * @param channel null if there is no connection
   * @param failure why there is none
   * @param cause what has ended such a thread, if that is why
   */
  private record Opened(int peer, SocketChannel channel, String failure, Throwable cause) {}

  private final int rank;
  private final byte[] secret;
  private final int bufferBytes;
  private final long creditBytes;

  /** All ranks of the job may connect at once, beside strangers. */
  private final int maxHandshakes;

  private final ServerSocketChannel server;
  private final String rankAddress;
  private final Selector selector;
  private final State[] states;

  /** Why ranks have ended, as far as the launcher has told; guarded by {@link #states}. */
  private final String[] endedRanks;

  private final Link[] links;
  private final List<Link> active = new ArrayList<>();
  private final EndedLinks<Link> endedLinks;
  private final Consumer<Link> release = this::release; // made once, since rounds are many
  private final Queue<Opened> opened = new ConcurrentLinkedQueue<>();

  /** The channels whose handshake is under way, the oldest first. */
  private final ArrayDeque<SocketChannel> handshaking = new ArrayDeque<>();

  private final AtomicLong refused = new AtomicLong();
  private final Consumer<SelectionKey> markReady = k -> ((Link) k.attachment()).ready = true;
  private volatile List<List<InetSocketAddress>> rankAddresses = List.of();
  private volatile String lastRefusal = "";
  private volatile Runnable news = () -> {};
  private volatile boolean closed;
  private long rounds;

  /** Whether a thread sleeps or is about to; guarded by the engine's lock. */
  private boolean armed;

  /** What links are made of. */
  public static final class Options {
    private byte[] secret = new byte[0];
    private int bufferBytes = 256 << 10;
    private long creditBytes = 1 << 20;
    private long graceNs = TimeUnit.SECONDS.toNanos(3);
    private boolean otherHosts;
    private String network;

    /** For one host, with no secret. */
    public Options() {}

    /**
     * The secret that only the ranks of the job know.
     *
     * @param bytes 32 random ones; not copied
     */
    public Options secret(byte[] bytes) {
      secret = bytes;
      return this;
    }

    /**
     * Memory of a link, each way.
     *
     * @param bytes a power of two from 4096; a quarter is the longest frame
     */
    public Options bufferBytes(int bytes) {
      bufferBytes = bytes;
      return this;
    }

    /**
     * Credit of a pair of ranks.
     *
     * @param bytes see {@code FrameDevice}
     */
    public Options creditBytes(long bytes) {
      creditBytes = bytes;
      return this;
    }

    /**
     * How long after a connection's end operations fail: meanwhile the launcher, who knows more,
     * may end the job.
     *
     * @param ns nanoseconds
     */
    public Options graceNs(long ns) {
      graceNs = ns;
      return this;
    }

    /**
     * Listen where other hosts reach it.
     *
     * @param onNetwork only addresses of this network, such as 10.1.0.0/16; null for all
     */
    public Options otherHosts(String onNetwork) {
      otherHosts = true;
      network = onNetwork;
      return this;
    }
  }

  /**
   * Listens.
   *
   * @param rank of this process
   * @param size ranks of the job
   * @param options see there
   * @throws IOException if it cannot listen
   */
  public Links(int rank, int size, Options options) throws IOException {
    this.rank = rank;
    secret = options.secret;
    bufferBytes = options.bufferBytes;
    creditBytes = options.creditBytes;
    maxHandshakes = Math.max(MIN_HANDSHAKES, 2 * size);
    states = new State[size];
    Arrays.fill(states, State.NONE);
    endedRanks = new String[size];
    links = new Link[size];
    endedLinks = new EndedLinks<>(options.graceNs);
    List<InetAddress> addresses =
        options.otherHosts ? RankAddress.ofThisHost(options.network) : RankAddress.ofLoopback();
    if (addresses.isEmpty()) {
      throw new IOException(
          "this host has no address for other hosts"
              + (options.network == null ? "" : " in talaria.mpj.network=" + options.network));
    }
    selector = Selector.open();
    server = ServerSocketChannel.open();
    try {
      server.bind(
          options.otherHosts ? new InetSocketAddress(0) : at(addresses.get(0)),
          Math.max(size, BACKLOG));
      rankAddress =
          RankAddress.write(((InetSocketAddress) server.getLocalAddress()).getPort(), addresses);
    } catch (IOException e) {
      server.close();
      selector.close();
      throw e;
    }
    Thread acceptor = new Thread(this::accept, "talaria-mpj-accept");
    acceptor.setDaemon(true);
    acceptor.start();
  }

  private static InetSocketAddress at(InetAddress address) {
    return new InetSocketAddress(address, 0);
  }

  @Override
  public String rankAddress() {
    return rankAddress;
  }

  @Override
  public void rankAddresses(List<String> ofAll) {
    List<List<InetSocketAddress>> read = new ArrayList<>();
    for (String each : ofAll) {
      read.add(RankAddress.read(each));
    }
    rankAddresses = read;
  }

  @Override
  public void onNews(Runnable action) {
    news = action;
  }

  /** How many connections were closed because who made them is not of this job. */
  public long refused() {
    return refused.get();
  }

  /** Why the last of them was refused, as text for the user; empty if none was. */
  public String lastRefusal() {
    return lastRefusal;
  }

  long rounds() {
    return rounds;
  }

  // Making connections, on threads of their own.

  private void accept() {
    while (!closed) {
      try {
        SocketChannel channel = server.accept();
        SocketChannel oldest = null;
        synchronized (handshaking) {
          handshaking.addLast(channel);
          if (handshaking.size() > maxHandshakes) {
            oldest = handshaking.removeFirst();
          }
        }
        // A client that connects and sends nothing does not keep the ranks out.
        close(oldest);
        start(() -> shakeHands(channel));
      } catch (IOException e) {
        if (!closed) {
          // Out of descriptors, most likely; others give some back.
          LockSupport.parkNanos(20_000_000);
        }
      } catch (RuntimeException | Error e) {
        failed(e);
        return;
      }
    }
  }

  /** Not on a virtual thread: those of the program may occupy all carriers for long. */
  private static void start(Runnable connection) {
    Thread.ofPlatform().daemon().name("talaria-mpj-connect").start(connection);
  }

  /**
   * A thread of connections failed, such as for a class that is missing: nothing that waits for a
   * connection would ever end, so the rank fails in its next {@link #round}, and in each after it.
   */
  private void failed(Throwable cause) {
    if (!closed) {
      opened.add(new Opened(rank, null, null, cause));
      selector.wakeup();
    }
  }

  private void refuse(SocketChannel channel, String why) {
    String who = "somebody";
    try {
      who = String.valueOf(channel.getRemoteAddress());
      channel.close();
    } catch (IOException e) {
      // It has gone by itself.
    }
    lastRefusal = who + ": " + why;
    refused.incrementAndGet();
  }

  private void shakeHands(SocketChannel channel) {
    try {
      prepare(channel);
      Handshake handshake = new Handshake(channel, secret);
      int from = accepted(handshake);
      int code = decide(from, handshake.wanted());
      answer(handshake, code, from);
      if (code == Handshake.WELCOME) {
        hand(new Opened(from, channel, null, null));
      } else if (code == Handshake.CROSSED) {
        channel.close();
      } else {
        refuse(channel, "rank " + from + " looked for another rank");
      }
    } catch (IOException e) {
      if (!closed) {
        refuse(channel, e.getMessage() == null ? "too many came at once" : e.getMessage());
      }
    } catch (RuntimeException | Error e) {
      failed(e);
      close(channel);
    } finally {
      synchronized (handshaking) {
        handshaking.remove(channel);
      }
    }
  }

  /** What a stranger sends may close its connection, and no more. */
  private int accepted(Handshake handshake) throws IOException {
    try {
      return handshake.accept(states.length);
    } catch (RuntimeException e) {
      throw new IOException("the handshake failed: " + e, e);
    }
  }

  private int decide(int from, int wanted) {
    if (wanted != rank || from == rank) {
      return Handshake.OTHER_RANK;
    }
    synchronized (states) {
      if (states[from] == State.OPEN || (states[from] == State.CONNECTING && rank < from)) {
        return Handshake.CROSSED;
      }
      states[from] = State.OPEN;
      return Handshake.WELCOME;
    }
  }

  private void answer(Handshake handshake, int code, int from) throws IOException {
    try {
      handshake.answer(code);
    } catch (IOException e) {
      if (code == Handshake.WELCOME) {
        // The state is OPEN: no other connection will come, nor is one made.
        hand(new Opened(from, null, "the connection failed: " + e.getMessage(), null));
      }
      throw e;
    }
  }

  private static void prepare(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    KeepAlive.enable(channel, 5, 2, 3);
  }

  private void hand(Opened link) {
    opened.add(link);
    selector.wakeup();
    news.run();
  }

  private void dial(int peer) {
    try {
      tryAddresses(peer);
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  private void tryAddresses(int peer) {
    StringBuilder failures = new StringBuilder();
    for (InetSocketAddress address : rankAddresses.get(peer)) {
      SocketChannel channel = null;
      try {
        channel = connected(address);
        int verdict = new Handshake(channel, secret).connect(rank, peer);
        if (verdict == Handshake.CROSSED) {
          channel.close();
          crossed(peer);
          return;
        }
        if (verdict == Handshake.WELCOME) {
          synchronized (states) {
            states[peer] = State.OPEN;
          }
          hand(new Opened(peer, channel, null, null));
          return;
        }
        throw new IOException("another rank listens at this address");
      } catch (IOException e) {
        close(channel);
        failures.append(failures.isEmpty() ? "" : "; ").append(address).append(": ");
        failures.append(e.getMessage());
      }
    }
    synchronized (states) {
      if (states[peer] == State.OPEN) {
        return; // It has connected meanwhile.
      }
    }
    hand(new Opened(peer, null, failures.toString(), null));
  }

  /** The other connection is on its way here, or is here; unless its rank has ended. */
  private void crossed(int peer) {
    String why;
    synchronized (states) {
      if (states[peer] != State.CONNECTING) {
        return;
      }
      states[peer] = State.AWAITED;
      why = endedRanks[peer];
    }
    if (why != null) {
      hand(new Opened(peer, null, why, null));
    }
  }

  private static void close(SocketChannel channel) {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // Given up anyway.
      }
    }
  }

  private static SocketChannel connected(InetSocketAddress address) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      prepare(channel);
      long deadline = System.nanoTime() + CONNECT_LIMIT_NS;
      long pause = 20_000;
      boolean there = channel.connect(address);
      while (!there) {
        if (System.nanoTime() - deadline > 0) {
          throw new IOException(
              "no connection within " + TimeUnit.NANOSECONDS.toSeconds(CONNECT_LIMIT_NS) + " s");
        }
        LockSupport.parkNanos(pause);
        pause = Math.min(pause * 2, 2_000_000);
        there = channel.finishConnect();
      }
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  // Under the engine's lock.

  @Override
  public FrameOutput connect(int peer) {
    synchronized (states) {
      if (states[peer] == State.NONE) {
        states[peer] = State.CONNECTING;
        start(() -> dial(peer));
      }
    }
    return link(peer).output();
  }

  private Link link(int peer) {
    if (links[peer] == null) {
      links[peer] = new Link(peer, this, bufferBytes, creditBytes);
    }
    return links[peer];
  }

  @Override
  public int round(Peers peers) {
    int left = 0;
    rounds++;
    if (!opened.isEmpty()) {
      takeOver(peers);
    }
    int count = active.size();
    for (int i = 0; i < count; i++) {
      left += active.get(i).round() ? 1 : 0;
    }
    if (count > MAX_POLLED) {
      findReady(count);
    }
    endedLinks.report(peers, release);
    return left;
  }

  private void findReady(int count) {
    // The selector and its wake-ups belong to the thread that sleeps: look at all then.
    boolean all = armed;
    for (int i = 0; i < count; i++) {
      active.get(i).ready = all;
    }
    if (!all) {
      try {
        selector.selectNow(markReady);
      } catch (IOException e) {
        throw new UncheckedIOException("select", e);
      }
    }
  }

  private void takeOver(Peers peers) {
    Opened next;
    while ((next = opened.poll()) != null) {
      if (next.cause() != null) {
        opened.add(next);
        throw new CommunicationException(
            CommunicationException.Kind.THREAD,
            "a thread that makes connections of rank " + rank + " failed: " + next.cause(),
            next.cause());
      }
      Link link = link(next.peer());
      if (next.channel() == null) {
        link.end(next.failure());
        continue;
      }
      if (link.ended() != null) {
        close(next.channel()); // Its rank has ended meanwhile.
        continue;
      }
      try {
        SelectionKey key = next.channel().register(selector, SelectionKey.OP_READ, link);
        active.add(link);
        link.attach(next.channel(), key);
        peers.arrived(next.peer(), link.input());
      } catch (IOException e) {
        link.end("the connection failed: " + e.getMessage());
      }
    }
    if (armed) {
      selector.wakeup(); // What was registered is looked at from the next sleep on.
    }
  }

  void ended(Link link) {
    endedLinks.add(link);
  }

  private void release(Link link) {
    active.remove(link);
    for (Link each : active) {
      each.ready = true; // They may be few enough now to look at all.
    }
  }

  @Override
  public void broken(int peer, String what) {
    end(peer, "it sent " + what);
  }

  @Override
  public void ended(int peer, String why) {
    boolean none;
    synchronized (states) {
      endedRanks[peer] = why;
      none = states[peer] == State.NONE || states[peer] == State.AWAITED;
    }
    if (none) {
      end(peer, why);
    }
  }

  /**
   * Closes the connection to a rank, which is gone then.
   *
   * @param peer its rank
   * @param why for the program
   */
  public void end(int peer, String why) {
    link(peer).end(why);
  }

  @Override
  public int longestPayload() {
    return Link.longestFrame(bufferBytes) - Frames.HEADER;
  }

  @Override
  public String name() {
    return "niodev";
  }

  @Override
  public boolean arm() {
    armed = true;
    wantRoom();
    return true;
  }

  @Override
  public void disarm() {
    armed = false;
    wantRoom();
  }

  private void wantRoom() {
    for (int i = 0; i < active.size(); i++) {
      active.get(i).wantRoom(armed);
    }
  }

  @Override
  public void sleep(long limitNs) {
    boolean interrupted = Thread.interrupted();
    try {
      selector.select(markReady, Math.max(1, TimeUnit.NANOSECONDS.toMillis(limitNs)));
    } catch (IOException e) {
      throw new UncheckedIOException("select", e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void wake() {
    selector.wakeup();
  }

  /** Connections that are open, for tests of leaks. */
  public int open() {
    return active.size();
  }

  @Override
  public void close() {
    closed = true;
    try {
      server.close();
      for (Link link : active) {
        link.close();
      }
      Opened next;
      while ((next = opened.poll()) != null) {
        close(next.channel());
      }
      selector.close();
    } catch (IOException e) {
      throw new UncheckedIOException("closing connections", e);
    }
  }
}

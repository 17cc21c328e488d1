// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * A node of {@link NodesStormTest} in a process of its own, which sends to all others and asks them
 * without rest, from a thread each, and checks what comes. Says {@code RUNS PORT}, and {@code WRONG
 * TEXT} whatever is not as it should be. After a line of input it sends no more, and says {@code
 * SENT}; after another, when all others have sent, {@code DONE}, its process' id, and for each node
 * {@link #summary}.
 */
public final class StormMain {
  private static final long SEND_LIMIT_NS = 5_000_000_000L;
  private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);
  private static final Duration END_LIMIT = Duration.ofSeconds(90);

  /** What a call may take beyond its limit, beside the time in which this process stood still. */
  private static final long GUARD_NS = 30_000_000_000L;

  private static final long TICK_NS = 20_000_000;
  private static final long STOOD_NS = 200_000_000;
  private static final long PAUSE_NS = 5_000_000;
  private static final int MAX_WRONG = 20;
  private static final int SMALL = 64;
  private static final int MIDDLE = 40_000;
  private static final int LARGE = 2 << 20;

  @SuppressWarnings("ArrayRecordComponent") // not compared
  record Note(long incarnation, long number, byte[] rest) {}

  @SuppressWarnings("ArrayRecordComponent") // not compared
  record Ping(long value, byte[] rest) {}

  record Pong(long value, int length) {}

  /** What has come of a node. */
  private static final class Seen {
    private long incarnation;
    private long next;
    private long gaps;
  }

  private final long incarnation = ProcessHandle.current().pid();
  private final int id;
  private final long seed;
  private final Seen[] seen;
  private final AtomicLongArray sent;
  private final AtomicLongArray lost;
  private final AtomicLong stoodNs = new AtomicLong();
  private final AtomicInteger wrongs = new AtomicInteger();
  private volatile boolean stopping;

  private StormMain(int id, int nodes, long seed) {
    this.id = id;
    this.seed = seed;
    seen = new Seen[nodes + 1];
    Arrays.setAll(seen, each -> new Seen());
    sent = new AtomicLongArray(nodes + 1);
    lost = new AtomicLongArray(nodes + 1);
  }

  /**
   * Runs until its input ends.
   *
   * @param args transport, directory, file of nodes, its id from 1, how many nodes there are, a
   *     seed
   */
  public static void main(String[] args) throws Exception {
    int id = Integer.parseInt(args[3]);
    int nodes = Integer.parseInt(args[4]);
    StormMain storm = new StormMain(id, nodes, Long.parseLong(args[5]));
    storm.run(Transport.valueOf(args[0]), Path.of(args[1]), Path.of(args[2]), nodes);
  }

  private static synchronized void say(String text) {
    System.out.println(text);
    System.out.flush();
  }

  private void wrong(String text) {
    if (wrongs.incrementAndGet() > MAX_WRONG) {
      return; // the first tells most
    }
    say("WRONG node " + id + ", process " + incarnation + ": " + text);
  }

  private void run(Transport transport, Path directory, Path file, int nodes) throws Exception {
    NodeOptions options =
        NodeOptions.of(id)
            .cluster("storm")
            .runDirectory(directory.resolve("run"))
            .sharedMemoryDirectory(directory.resolve("shm"))
            .directory(NodeDirectory.file(file))
            .transports(transport)
            .sendTimeout(Duration.ofNanos(SEND_LIMIT_NS))
            .lookup(MethodHandles.lookup())
            .type(Pong.class)
            .receive(Note.class, Dispatch.INLINE, this::take)
            .handle(
                Ping.class,
                Dispatch.ORDERED,
                (ping, request) -> request.respond(new Pong(ping.value(), ping.rest().length)));
    Thread watch = new Thread(this::watch, "watch");
    watch.setDaemon(true);
    watch.start();
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Node node =
        Nodes.start(transport == Transport.TCP ? options.listen("127.0.0.1", 0) : options)) {
      node.listen(new Told());
      say("RUNS " + node.port());
      List<Thread> threads = new ArrayList<>();
      for (int to = 1; to <= nodes; to++) {
        if (to != id) {
          Peer peer = node.peer(to);
          Thread talks = new Talker(peer);
          talks.start();
          threads.add(talks);
        }
      }
      in.readLine();
      stopping = true;
      for (Thread each : threads) {
        each.join();
      }
      say("SENT");
      String line = in.readLine();
      StringBuilder done = new StringBuilder("DONE " + incarnation);
      for (int of = 1; of <= nodes; of++) {
        done.append(' ').append(summary(of));
      }
      say(done.toString());
      while (line != null) {
        line = in.readLine();
      }
    }
  }

  /** SENT:INCARNATION:NEXT:GAPS:LOST of a node: to it, of it, and of connections with it. */
  private synchronized String summary(int of) {
    Seen it = seen[of];
    return sent.get(of) + ":" + it.incarnation + ":" + it.next + ":" + it.gaps + ":" + lost.get(of);
  }

  /** Counts the time in which this process did not run. */
  private void watch() {
    long before = System.nanoTime();
    while (true) {
      LockSupport.parkNanos(TICK_NS);
      long now = System.nanoTime();
      if (now - before > STOOD_NS) {
        stoodNs.addAndGet(now - before);
      }
      before = now;
    }
  }

  /** Nobody is to interrupt it. */
  private final class Talker extends Thread {
    private final Peer peer;

    Talker(Peer peer) {
      super("to-" + peer.id());
      this.peer = peer;
    }

    @Override
    public void run() {
      talk(peer);
    }

    @Override
    public void interrupt() {
      wrong(
          getName()
              + " is interrupted by "
              + Thread.currentThread()
              + Arrays.toString(Thread.currentThread().getStackTrace()));
      super.interrupt();
    }
  }

  private final class Told implements NodeListener {
    @Override
    public void lost(Peer peer, String reason, long unacknowledgedBytes) {
      lost.incrementAndGet(peer.id());
    }

    @Override
    public void dropped(Peer from, String type, String reason) {
      wrong("dropped a " + type + " of node " + from.id() + ": " + reason);
    }

    @Override
    public void failed(Peer from, String type, Throwable thrown) {
      wrong("a receiver of " + type + " of node " + from.id() + " threw " + thrown);
    }
  }

  private synchronized void take(Note note, Peer from) {
    Seen it = seen[from.id()];
    if (note.incarnation() != it.incarnation) {
      it.incarnation = note.incarnation();
      it.next = 0;
      it.gaps = 0;
    }
    if (note.number() < it.next) {
      wrong("message " + note.number() + " of node " + from.id() + " came after " + (it.next - 1));
      return;
    }
    for (byte each : note.rest()) {
      if (each != (byte) note.number()) {
        wrong("message " + note.number() + " of node " + from.id() + " has a byte " + each);
        break;
      }
    }
    if (note.number() > it.next) {
      it.gaps++;
    }
    it.next = note.number() + 1;
  }

  private static byte[] bytes(Random random, long number) {
    int most =
        switch (random.nextInt(64)) {
          case 0 -> LARGE;
          case 1, 2, 3 -> MIDDLE;
          default -> SMALL;
        };
    byte[] bytes = new byte[random.nextInt(most)];
    Arrays.fill(bytes, (byte) number);
    return bytes;
  }

  private void talk(Peer peer) {
    Random random = new Random(seed + peer.id());
    long number = 0;
    while (!stopping) {
      boolean asks = random.nextInt(8) == 0;
      byte[] bytes = bytes(random, number);
      long stoodBefore = stoodNs.get();
      long begin = System.nanoTime();
      try {
        if (asks) {
          ask(peer, random.nextLong(), bytes);
        } else {
          peer.send(new Note(incarnation, number, bytes));
          number++;
        }
      } catch (MessagingException e) {
        // Not sent, and the number is the next one's; or nobody knows, and it is nobody's.
        number += !asks && e.code() == MessagingException.Code.LOST ? 1 : 0;
        checkFailure(peer, e);
        LockSupport.parkNanos(PAUSE_NS);
      }
      long limitNs = asks ? REQUEST_LIMIT.toNanos() : SEND_LIMIT_NS;
      long tookNs = System.nanoTime() - begin;
      LockSupport.parkNanos(random.nextInt(200_000));
      if (tookNs - (stoodNs.get() - stoodBefore) > limitNs + GUARD_NS) {
        wrong((asks ? "ask" : "send") + " took " + tookNs / 1_000_000 + " ms");
      }
    }
    sent.set(peer.id(), last(peer, number));
  }

  /** Sends one more message, until it is taken; how many there were. */
  private long last(Peer peer, long count) {
    long begin = System.nanoTime();
    long number = count;
    while (System.nanoTime() - begin < END_LIMIT.toNanos()) {
      boolean gone = false;
      try {
        long position = peer.send(new Note(incarnation, number, new byte[0]));
        gone = true;
        number++;
        if (peer.awaitDelivered(position, END_LIMIT)) {
          return number;
        }
      } catch (MessagingException e) {
        number += !gone && e.code() == MessagingException.Code.LOST ? 1 : 0;
        checkFailure(peer, e);
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
    wrong("node " + peer.id() + " has not taken the last message: " + peer.reason());
    return number;
  }

  private void ask(Peer peer, long value, byte[] bytes) throws MessagingException {
    Pong pong = peer.request(new Ping(value, bytes), Pong.class, REQUEST_LIMIT);
    if (pong.value() != value || pong.length() != bytes.length) {
      wrong("node " + peer.id() + " answered " + pong + " to " + value + ", " + bytes.length);
    }
  }

  /** Whether a peer's death, or a peer that is stopped, may be told so. */
  private void checkFailure(Peer peer, MessagingException e) {
    switch (e.code()) {
      case UNREACHABLE, LOST, TIMED_OUT, BACK_PRESSURED, REFUSED -> {}
      default -> wrong("node " + peer.id() + ": " + e);
    }
  }
}

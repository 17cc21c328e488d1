// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.SchedulingDelay;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What the parts of one process share. Any thread may call it. */
final class Node {
  private static final int CONNECTION_BITS = 32;
  private static final long RETRY_MS = 20;

  /** An answer that took so long, on a machine that was not busy, was helped by a time-out. */
  private static final long SLOW_NS = 400_000_000L;

  private static final long NOT_BUSY_NS = 15_000_000L;

  final Ledger ledger = new Ledger();
  final SchedulingDelay delay = new SchedulingDelay();
  final Gate gate;
  final Turns turns = new Turns(this);

  private final Args args;
  private final Random chance;
  private final List<Loop> loops = new ArrayList<>();
  private final ScheduledThreadPoolExecutor workers;
  private final Map<End, Boolean> ends = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final AtomicLong connections = new AtomicLong();
  private final AtomicLong slowestNs = new AtomicLong();
  private volatile List<InetSocketAddress> peers = List.of();
  private volatile boolean stopping;
  private volatile End[] shown = {};

  Node(Args args) throws IOException {
    this.args = args;
    this.chance = new Random(args.number("seed", 1));
    ThreadFactory daemons =
        task -> {
          Thread thread = new Thread(task, "worker");
          thread.setDaemon(true);
          return thread;
        };
    workers = new ScheduledThreadPoolExecutor(args.count("workers", 2), daemons);
    for (int i = 0; i < args.count("selectors", 1); i++) {
      loops.add(new Loop(this, i, chance.nextLong()));
    }
    gate = new Gate(this, chance.nextLong());
  }

  /** Whether nothing wakes anybody but what must. */
  boolean quiet() {
    return args.is("quiet", "yes", "no");
  }

  /** Begins, with all peers known. */
  void start(List<InetSocketAddress> all) throws IOException {
    peers = all;
    gate.open(chance.nextBoolean() && !quiet());
    int many = args.count("connections", 4);
    boolean asks = many > 0;
    for (int i = 0; i < many; i++) {
      replace();
    }
    for (int i = 0; i < args.count("actors", 1) && asks; i++) {
      Acts acts = new Acts(this, chance.nextLong(), args.count("actUs", 1000));
      Console.daemon("acts", acts::run);
    }
    Console.daemon("watch", new Watch(this, args.number("limitMs", 1000))::run);
    Console.daemon("shown", this::show);
  }

  /** Peers have come or gone. */
  void peers(List<InetSocketAddress> all) {
    peers = all;
  }

  // ---- chance; what threads do by chance need not be the same again

  Loop anyLoop(Random random) {
    return loops.get(random.nextInt(loops.size()));
  }

  int any(int bound) {
    return ThreadLocalRandom.current().nextInt(bound);
  }

  int anyDelayUs() {
    return switch (any(8)) {
      case 0, 1, 2 -> any(50);
      case 3, 4, 5 -> any(1000);
      case 6 -> any(Math.min(5000, args.count("restUs", 20_000)));
      default -> any(args.count("restUs", 20_000));
    };
  }

  void pause(Random random) {
    if (random.nextInt(3) == 0) {
      java.util.concurrent.locks.LockSupport.parkNanos(anyDelayUs() * 1000L);
    }
  }

  // ---- threads

  void work(Runnable task) {
    workers.execute(() -> guarded(task));
  }

  void later(int us, Runnable task) {
    workers.schedule(() -> guarded(task), us, TimeUnit.MICROSECONDS);
  }

  private static void guarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable failure) {
      Console.fail(failure);
    }
  }

  Thread thread(String name, Console.Task task) {
    return Console.daemon(name, task);
  }

  // ---- connections

  long nextConnection() {
    return (args.number("name", 1) << CONNECTION_BITS) + connections.incrementAndGet();
  }

  /** Makes a new connection for one that has ended. */
  void replace() {
    if (!stopping) {
      later(any(2000), this::connect);
    }
  }

  private void connect() {
    List<InetSocketAddress> there = peers;
    if (stopping || there.isEmpty()) {
      return;
    }
    try {
      ThreadLocalRandom random = ThreadLocalRandom.current();
      Asker asker =
          new Asker(this, SocketChannel.open(), random.nextLong(), args.count("bytes", 100_000));
      add(asker);
      InetSocketAddress peer = there.get(random.nextInt(there.size()));
      if (quiet()) {
        turns.want(asker, () -> asker.connect(peer));
      } else {
        asker.connect(peer);
      }
    } catch (IOException e) {
      throw new IllegalStateException("no channel", e);
    }
  }

  void add(End end) {
    ends.put(end, true);
  }

  void ended(End end) {
    ends.remove(end);
  }

  Iterable<End> ends() {
    return ends.keySet();
  }

  private void show() throws InterruptedException {
    while (true) {
      shown = ends.keySet().toArray(new End[0]);
      Thread.sleep(2);
    }
  }

  /** Some end, or null. */
  End anyEnd(Random random) {
    End[] some = shown;
    return some.length == 0 ? null : some[random.nextInt(some.length)];
  }

  /** A loop has lost its selector. On its thread. */
  void reregister(Loop loop) {
    gate.reregister(loop);
    for (End end : ends.keySet()) {
      end.reregister(loop);
    }
  }

  void wakeAll() {
    loops.forEach(Loop::wakeup);
  }

  // ---- the end

  boolean stopping() {
    return stopping;
  }

  /** Has everything end, and waits for it. */
  void stop() throws InterruptedException {
    stopping = true;
    while (!ends.isEmpty()) {
      Thread.sleep(RETRY_MS);
    }
  }

  // ---- what happened

  void count(String what) {
    counts.computeIfAbsent(what, unused -> new LongAdder()).increment();
  }

  void moved(long bytes) {
    counts.computeIfAbsent("bytes", unused -> new LongAdder()).add(bytes);
  }

  void connected() {
    count("connected");
  }

  void refused() {
    count("refused");
  }

  void answered(long tookNs, long sinceNs) {
    count("answered");
    slowestNs.accumulateAndGet(tookNs, Math::max);
    if (tookNs > SLOW_NS && delay.worstSinceNs(sinceNs) < NOT_BUSY_NS) {
      count("slow");
    }
  }

  void recovered(End end) {
    Console.say("recovered", "what", end);
  }

  Object[] numbers() {
    Map<String, Object> all = new TreeMap<>(counts);
    all.put("slowestMs", slowestNs.get() / 1_000_000);
    List<Object> words = new ArrayList<>();
    all.forEach(
        (name, value) -> {
          words.add(name);
          words.add(value);
        });
    return words.toArray();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Journal;
import io.talaria.it.kit.Traffic;
import io.talaria.it.kit.Transports;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The connections of a {@link ChaosNode} from the first byte to the last: journals them, counts
 * them, knows which of them stands still longest, and tells of those that break. Any thread may
 * call any method.
 */
final class Lives {
  private final Journal journal;
  private final Map<Traffic, Life> open = new ConcurrentHashMap<>();

  /** How many connections there were between two addresses; ports come back. */
  private final Map<String, Integer> between = new ConcurrentHashMap<>();

  private final LongAdder connected = new LongAdder();
  private final LongAdder complete = new LongAdder();
  private final LongAdder broken = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder starved = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder transport = new LongAdder();

  Lives(Journal journal) {
    this.journal = journal;
  }

  /** A connection has been made by this side. */
  void connected() {
    connected.increment();
  }

  /** One could not be made or accepted. */
  void refused(IOException failure) {
    if (String.valueOf(failure.getMessage()).contains("Too many open files")) {
      starved.increment();
    } else {
      refused.increment();
    }
  }

  void begin(Traffic traffic) throws IOException {
    Life life = new Life(traffic);
    traffic.watch(life);
    open.put(traffic, life);
  }

  /** Judges a connection whose streams have both ended, and closes it. */
  void end(Traffic traffic) throws IOException {
    Life life = open.remove(traffic);
    long acceleratedInBytes = Transports.acceleratedInBytes(traffic.channel());
    transport.add(acceleratedInBytes);
    if (traffic.inEnd().equals(Traffic.COMPLETE) && traffic.outEnd().equals(Traffic.COMPLETE)) {
      complete.increment();
    } else {
      broken.increment();
      Console.say(
          "broken",
          "local",
          text(life.local),
          "remote",
          text(life.remote),
          "in",
          traffic.inEnd(),
          "out",
          traffic.outEnd(),
          "sent",
          traffic.sent(),
          "received",
          traffic.received(),
          "transport",
          acceleratedInBytes,
          "nth",
          life.nth);
    }
    traffic.close();
    life.line.close();
  }

  void sayStatus() {
    long now = System.nanoTime();
    Life stalest = null;
    for (Life life : open.values()) {
      if (stalest == null || life.movedNs < stalest.movedNs) {
        stalest = life;
      }
    }
    Console.say(
        "status",
        "open",
        open.size(),
        "connected",
        connected.sum(),
        "complete",
        complete.sum(),
        "broken",
        broken.sum(),
        "refused",
        refused.sum(),
        "starved",
        starved.sum(),
        "received",
        received.sum(),
        "transport",
        transport.sum(),
        "idleMs",
        stalest == null ? 0 : (now - stalest.movedNs) / 1_000_000,
        "idle",
        stalest == null ? "none" : stalest);
  }

  private static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /** One connection. */
  private final class Life implements Traffic.Progress {
    final InetSocketAddress local;
    final InetSocketAddress remote;
    final Journal.Line line;
    final int nth;
    volatile long movedNs = System.nanoTime();
    private final Traffic traffic;
    private long counted;

    Life(Traffic traffic) throws IOException {
      this.traffic = traffic;
      this.local = (InetSocketAddress) traffic.channel().getLocalAddress();
      this.remote = (InetSocketAddress) traffic.channel().getRemoteAddress();
      this.nth = between.merge(text(local) + "-" + text(remote), 1, Integer::sum);
      this.line = traffic.accepted() ? journal.open(remote, local) : journal.open(local, remote);
    }

    @Override
    public void sent(long position) {
      line.sent(position);
      movedNs = System.nanoTime();
    }

    @Override
    public void received(long position) {
      line.received(position);
      Lives.this.received.add(position - counted);
      counted = position;
      movedNs = System.nanoTime();
    }

    @Override
    public String toString() {
      return text(local)
          + "-"
          + text(remote)
          + ",sent:"
          + traffic.sent()
          + ",received:"
          + traffic.received()
          + ",in:"
          + traffic.inEnd()
          + ",out:"
          + traffic.outEnd()
          + ","
          + traffic.channel();
    }
  }
}

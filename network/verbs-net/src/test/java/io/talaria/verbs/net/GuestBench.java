// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.testsupport.GuestFigures;
import io.talaria.verbs.Access;
import io.talaria.verbs.CompletionChannel;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Context;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.Path;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.Status;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What {@code rdma-test --bench} sets beside perftest: a line {@code measure NAME VALUE} each, in
 * microseconds, MB (10^6 bytes) a second, or messages a second. Both sides are in this JVM, on the
 * first RDMA device. How often each is done may be given.
 */
public final class GuestBench {
  private static final int PORT = 1;
  private static final int SMALL = 16;
  private static final int LARGE = 4096;
  private static final int IN_FLIGHT = 64;

  /** So often each is done before it counts. */
  private static final int WARM_UP = 3_000;

  private GuestBench() {}

  /** Measures all. */
  public static void main(String[] args) throws Exception {
    if (!Provider.isDevice()) {
      Provider.prepare();
    }
    int count = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
    try (Ends ends = new Ends()) {
      GuestFigures.print("verbs_read_us", ends.read(count));
      GuestFigures.print("verbs_write_mbs", ends.write(count * 5));
    }
    try (Ends ends = new Ends()) {
      GuestFigures.print("verbs_sleeping_us", ends.sleeping(count));
    }
    GuestFigures.print("net_round_trip_us", roundTrip(count));
    GuestFigures.print("net_messages_s", oneWay(count * 5));
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("expected " + what);
    }
  }

  /** Two queue pairs that are connected, each with a queue and a channel. */
  private static final class Ends implements AutoCloseable {
    private final Context context;
    private final ProtectionDomain domain;
    private final CompletionChannel[] channels = new CompletionChannel[2];
    private final CompletionQueue[] queues = new CompletionQueue[2];
    private final MemoryRegion[] regions = new MemoryRegion[2];
    private final QueuePair[] pairs = new QueuePair[2];
    private final SendRequests[] sends = new SendRequests[2];
    private final ReceiveRequests[] receives = new ReceiveRequests[2];
    private final Completions[] done = new Completions[2];

    Ends() {
      try (DeviceList devices = DeviceList.open()) {
        context = devices.first().open();
      }
      domain = context.protectionDomain();
      for (int i = 0; i < 2; i++) {
        channels[i] = context.completionChannel();
        queues[i] = context.completionQueue(2 * IN_FLIGHT, channels[i], 0);
        regions[i] =
            domain.allocate(LARGE, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
        pairs[i] =
            QueuePair.rc(domain).send(queues[i], IN_FLIGHT).receive(queues[i], IN_FLIGHT).open();
        sends[i] = SendRequests.allocate(domain, IN_FLIGHT, 1);
        receives[i] = ReceiveRequests.allocate(domain, 1, 1);
        receives[i].request(0).local(regions[i], 0, LARGE);
        done[i] = Completions.allocate(IN_FLIGHT);
      }
      Path path =
          Path.by(PORT, context.preferredGid(PORT).map(entry -> entry.index()).orElse(0))
              .withMtu(context.port(PORT).activeMtuBytes());
      QueuePairAddress[] own = {pairs[0].address(path, 0), pairs[1].address(path, 0)};
      for (int i = 0; i < 2; i++) {
        pairs[i].connect(own[i], own[1 - i], path, Access.REMOTE_READ, Access.REMOTE_WRITE);
      }
    }

    private int take(int side) {
      int count;
      while ((count = queues[side].poll(done[side])) == 0) {
        Thread.onSpinWait();
      }
      return checked(side, count);
    }

    private int checked(int side, int count) {
      check(count > 0, "completions, not " + count);
      for (int i = 0; i < count; i++) {
        check(done[side].status(i) == Status.SUCCESS, Status.text(done[side].status(i)));
      }
      return count;
    }

    double read(int count) throws InterruptedException {
      sends[0]
          .read(0)
          .local(regions[0], 0, SMALL)
          .remote(regions[1].remoteAddress(), regions[1].remoteKey())
          .signaled();
      long[] ns = new long[count];
      for (int i = -WARM_UP; i < count; i++) {
        if (i == 0) {
          GuestFigures.awaitCompilers();
        }
        long began = System.nanoTime();
        check(pairs[0].post(sends[0], 0, 1) == 0, "room");
        int ignored = take(0);
        if (i >= 0) {
          ns[i] = System.nanoTime() - began;
        }
      }
      return GuestFigures.medianUs(ns);
    }

    double write(int count) throws InterruptedException {
      sends[0]
          .write(0)
          .local(regions[0], 0, LARGE)
          .remote(regions[1].remoteAddress(), regions[1].remoteKey())
          .signaled();
      double ignored = writeAll(WARM_UP);
      GuestFigures.awaitCompilers();
      return (double) count * LARGE / 1e6 / writeAll(count);
    }

    /** Gives how many seconds it took. */
    private double writeAll(int count) {
      long began = System.nanoTime();
      int posted = 0;
      for (int finished = 0; finished < count; ) {
        while (posted < count && posted - finished < IN_FLIGHT) {
          check(pairs[0].post(sends[0], 0, 1) == 0, "room");
          posted++;
        }
        finished += take(0);
      }
      return (System.nanoTime() - began) / 1e9;
    }

    /** Sends, and waits until something has come and what was sent is done, sleeping. */
    private void exchange() {
      check(pairs[0].post(sends[0], 0, 1) == 0, "room");
      for (int wanted = 2; wanted > 0; ) {
        wanted -= sleep(0);
      }
    }

    /** Sleeps until there are completions; gives how many. */
    private int sleep(int side) {
      while (true) {
        int count = queues[side].arm(false, done[side]);
        if (count == 0) {
          boolean ignored = channels[side].await(10_000);
          ignored = channels[side].drop();
          count = queues[side].poll(done[side]);
        }
        if (count != 0) {
          return checked(side, count);
        }
      }
    }

    double sleeping(int count) throws InterruptedException {
      for (int i = 0; i < 2; i++) {
        sends[i].send(0).local(regions[i], 0, SMALL).signaled();
      }
      for (int i = 0; i < IN_FLIGHT; i++) {
        check(pairs[0].post(receives[0], 0, 1) == 0, "room");
        check(pairs[1].post(receives[1], 0, 1) == 0, "room");
      }
      Thread echo = Thread.ofPlatform().daemon().start(() -> echo(WARM_UP + count));
      long[] ns = new long[count];
      for (int i = -WARM_UP; i < count; i++) {
        if (i == 0) {
          GuestFigures.awaitCompilers();
        }
        long began = System.nanoTime();
        exchange();
        if (i >= 0) {
          ns[i] = System.nanoTime() - began;
        }
        check(pairs[0].post(receives[0], 0, 1) == 0, "room");
      }
      echo.join();
      return GuestFigures.medianUs(ns);
    }

    /** Completions of what it sends come with those of what it receives. */
    private void echo(int count) {
      int received = 0;
      int answered = 0;
      int sent = 0;
      while (sent < count) {
        int all = sleep(1);
        for (int i = 0; i < all; i++) {
          if (done[1].isReceive(i)) {
            received++;
          } else {
            sent++;
          }
        }
        while (answered < received) {
          check(pairs[1].post(sends[1], 0, 1) == 0, "room");
          check(pairs[1].post(receives[1], 0, 1) == 0, "room");
          answered++;
        }
      }
    }

    @Override
    public void close() {
      for (int i = 0; i < 2; i++) {
        pairs[i].close();
        regions[i].close();
        queues[i].close();
        channels[i].close();
      }
      domain.close();
      context.close();
    }
  }

  /**
   * As the queue pairs above: threads sleep when there is nothing. There is room for all that is
   * sent in the 67 ms for which soft-RoCE at times leaves acknowledgements lying.
   */
  private static NetOptions.Builder options() {
    return Pair.options().spinNs(0).window(64).sendDepth(1024).sendSlices(2048);
  }

  private static double roundTrip(int count) throws IOException, InterruptedException {
    AtomicLong answered = new AtomicLong();
    long[] ns = new long[count];
    Thread waits = Thread.currentThread();
    try (Pair pair = new Pair(options(), (c, m) -> answer(c))) {
      Connection connection =
          pair.connect(
              (c, m) -> {
                answered.incrementAndGet();
                java.util.concurrent.locks.LockSupport.unpark(waits);
              });
      for (int i = -WARM_UP; i < count; i++) {
        if (i == 0) {
          GuestFigures.awaitCompilers();
        }
        long before = answered.get();
        long began = System.nanoTime();
        answer(connection);
        while (answered.get() == before) {
          check(connection.isOpen(), "an open connection");
          java.util.concurrent.locks.LockSupport.parkNanos(1_000_000_000L);
        }
        if (i >= 0) {
          ns[i] = System.nanoTime() - began;
        }
      }
    }
    return GuestFigures.medianUs(ns);
  }

  private static void answer(Connection connection) {
    Slice slice = connection.borrow();
    int result = slice == null ? Connection.BACK_PRESSURED : connection.send(slice, SMALL);
    if (result != Connection.SENT) {
      throw new IllegalStateException(
          "sending has returned " + result + "; " + connection.node.metrics());
    }
  }

  private static double oneWay(int count) throws IOException, InterruptedException {
    AtomicLong seen = new AtomicLong();
    try (Pair pair = new Pair(options(), (c, m) -> seen.incrementAndGet())) {
      Connection connection = pair.connect((c, m) -> {});
      double ignored = sendAll(connection, seen, WARM_UP);
      GuestFigures.awaitCompilers();
      return count / sendAll(connection, seen, count);
    }
  }

  /** Gives how many seconds it took. */
  private static double sendAll(Connection connection, AtomicLong seen, int count)
      throws InterruptedException {
    seen.set(0);
    long began = System.nanoTime();
    for (int i = 0; i < count; i++) {
      Pair.send(connection, i, i);
    }
    Pair.await("all messages", () -> seen.get() == count);
    return (System.nanoTime() - began) / 1e9;
  }
}

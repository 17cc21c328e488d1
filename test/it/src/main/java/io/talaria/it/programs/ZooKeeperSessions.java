// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.SchedulingDelay;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Several sessions of one process at one ZooKeeper server, of which one after the other is closed
 * and opened again while its neighbours ask. Every request must be answered within a second, or
 * later if the machine is so busy. Says {@code @used asked=... slowestMs=...}, or {@code @late
 * waitedMs=... delayMs=... answered=...} with what became of the request: {@code slowly} (without
 * anybody's help), {@code onceWoken} (when another connection had woken the server's selector: a
 * wake-up was lost), {@code never}.
 */
public final class ZooKeeperSessions {
  private static final long LIMIT_NS = 1_000_000_000L;

  /** The first sessions of a server that has just started. */
  private static final long OPENING_NS = 25_000_000_000L;

  private static final long HELP_MS = 3000;

  private final SchedulingDelay delay = new SchedulingDelay();
  private final String address;
  private final int port;
  private final int rounds;
  private final Random chance;
  private final AtomicReferenceArray<ZooKeeper> sessions;
  private long asked;
  private long slowestNs;

  private ZooKeeperSessions(Args args) {
    port = args.count("port", 0);
    address = "127.0.0.1:" + port;
    rounds = args.count("rounds", 100);
    sessions = new AtomicReferenceArray<>(args.count("sessions", 2));
    chance = new Random(args.number("seed", 1));
  }

  /**
   * Runs the program.
   *
   * @param arguments port, sessions, rounds, seed
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          ZooKeeperSessions program = new ZooKeeperSessions(args);
          program.use();
          Console.awaitCommand("close");
          for (int i = 0; i < program.sessions.length(); i++) {
            program.sessions.get(i).close();
          }
          Console.say("closed");
          Console.awaitEnd();
        });
  }

  private void use() throws Exception {
    for (int i = 0; i < sessions.length(); i++) {
      sessions.set(i, connect(OPENING_NS));
      sessions
          .get(i)
          .create(node(i), new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }
    Console.say("opened");
    for (int round = 0; round < rounds; round++) {
      int leaving = chance.nextInt(sessions.length());
      ask(leaving, "before-" + round);
      CountDownLatch left = new CountDownLatch(1);
      Console.daemon(
          "leaving",
          () -> {
            sessions.get(leaving).close();
            left.countDown();
          });
      for (int i = 0; i < 4 || left.getCount() > 0; i++) {
        askAllBut(leaving, round + "-" + i);
      }
      sessions.set(leaving, connect(LIMIT_NS));
      for (int i = 0; i < 4; i++) {
        askAllBut(-1, round + "-" + i);
      }
    }
    Console.say("used", "asked", asked, "slowestMs", slowestNs / 1_000_000);
  }

  private void askAllBut(int leaving, String value) throws Exception {
    for (int i = 0; i < sessions.length(); i++) {
      if (i != leaving) {
        ask(i, value);
      }
    }
  }

  /** Writes and reads, each with a limit, which the client's own calls have not. */
  private void ask(int session, String value) throws Exception {
    CountDownLatch answered = new CountDownLatch(2);
    AtomicInteger failures = new AtomicInteger();
    long startNs = System.nanoTime();
    sessions
        .get(session)
        .setData(
            node(session),
            value.getBytes(UTF_8),
            -1,
            (code, path, context, stat) -> {
              failures.addAndGet(code == 0 ? 0 : 1);
              answered.countDown();
            },
            null);
    sessions
        .get(session)
        .getData(
            node(session),
            false,
            (code, path, context, data, stat) -> {
              boolean right = code == 0 && new String(data, UTF_8).equals(value);
              failures.addAndGet(right ? 0 : 1);
              answered.countDown();
            },
            null);
    await(answered, startNs, LIMIT_NS);
    if (failures.get() > 0) {
      throw new IllegalStateException("session " + session + " got a wrong answer to " + value);
    }
    asked += 2;
    slowestNs = Math.max(slowestNs, System.nanoTime() - startNs);
  }

  private void await(CountDownLatch answered, long startNs, long limitNs) throws Exception {
    while (!answered.await(50, TimeUnit.MILLISECONDS)) {
      long waitedNs = System.nanoTime() - startNs;
      if (waitedNs > delay.limitNs(startNs, limitNs)) {
        Console.say("silent", "waitedMs", waitedNs / 1_000_000);
        Console.awaitCommand("go on");
        String how = help(answered);
        Console.say(
            "late",
            "waitedMs",
            waitedNs / 1_000_000,
            "delayMs",
            delay.worstSinceNs(startNs) / 1_000_000,
            "asked",
            asked,
            "answered",
            how);
        throw new IllegalStateException("a request was answered " + how);
      }
    }
  }

  /** Gives the server time, then has a new connection wake its selector. */
  private String help(CountDownLatch answered) throws IOException, InterruptedException {
    if (answered.await(HELP_MS, TimeUnit.MILLISECONDS)) {
      return "slowly";
    }
    try (Socket stranger = new Socket()) {
      stranger.connect(new InetSocketAddress("127.0.0.1", port));
      return answered.await(HELP_MS, TimeUnit.MILLISECONDS) ? "onceWoken" : "never";
    }
  }

  private static String node(int session) {
    return "/of" + session;
  }

  private ZooKeeper connect(long limitNs) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    long startNs = System.nanoTime();
    ZooKeeper session =
        new ZooKeeper(
            address,
            60_000,
            event -> {
              if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    await(connected, startNs, limitNs);
    return session;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Uses a ZooKeeper server as applications do: synchronous and asynchronous calls, large values,
 * transactions, watches, ephemeral nodes of another session. Says {@code @used} when all was right,
 * with both sessions still open.
 */
public final class ZooKeeperUser {
  private final String address;
  private final int rounds;
  private final ZooKeeper first;
  private final ZooKeeper second;

  private ZooKeeperUser(Args args) throws Exception {
    address = "127.0.0.1:" + args.number("port", 0);
    rounds = args.count("rounds", 1000);
    first = connect();
    second = connect();
  }

  /**
   * Runs the program.
   *
   * @param arguments port, rounds
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          ZooKeeperUser user = new ZooKeeperUser(args);
          user.callSynchronously();
          user.callAsynchronously();
          user.storeLargeValues();
          user.watch();
          user.watchEphemeralNodes();
          Console.say("used");
          Console.awaitCommand("close");
          user.first.close();
          user.second.close();
          Console.say("closed");
          Console.awaitEnd();
        });
  }

  private ZooKeeper connect() throws IOException, InterruptedException {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper session =
        new ZooKeeper(
            address,
            30_000,
            event -> {
              if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    await("a session", connected);
    return session;
  }

  private void callSynchronously() throws KeeperException, InterruptedException {
    create("/sync", "0");
    for (int i = 0; i < rounds; i++) {
      String value = "value-" + i;
      Stat stat = first.setData("/sync", value.getBytes(UTF_8), i);
      check(stat.getVersion() == i + 1, "version " + stat.getVersion() + " in round " + i);
      String found = new String(first.getData("/sync", false, null), UTF_8);
      check(found.equals(value), "read " + found + " instead of " + value);
    }
    first.multi(
        List.of(
            Op.create("/multi", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
            Op.setData("/sync", "done".getBytes(UTF_8), rounds)));
    check(second.exists("/multi", false) != null, "/multi is missing");
  }

  private void callAsynchronously() throws KeeperException, InterruptedException {
    create("/async", "");
    int count = 4 * rounds;
    CountDownLatch created = new CountDownLatch(count);
    AtomicInteger failures = new AtomicInteger();
    for (int i = 0; i < count; i++) {
      first.create(
          "/async/n" + i,
          ("v" + i).getBytes(UTF_8),
          ZooDefs.Ids.OPEN_ACL_UNSAFE,
          CreateMode.PERSISTENT,
          (code, path, context, name) -> {
            failures.addAndGet(code == 0 ? 0 : 1);
            created.countDown();
          },
          null);
    }
    await("asynchronous creates", created);
    CountDownLatch read = new CountDownLatch(count);
    for (int i = 0; i < count; i++) {
      String expected = "v" + i;
      second.getData(
          "/async/n" + i,
          false,
          (code, path, context, data, stat) -> {
            boolean right = code == 0 && new String(data, UTF_8).equals(expected);
            failures.addAndGet(right ? 0 : 1);
            read.countDown();
          },
          null);
    }
    await("asynchronous reads", read);
    check(failures.get() == 0, failures + " asynchronous calls failed");
    int children = second.getChildren("/async", false).size();
    check(children == count, children + " children instead of " + count);
  }

  private void storeLargeValues() throws KeeperException, InterruptedException {
    create("/large", "");
    byte[] large = new byte[900_000];
    for (int i = 0; i < 5; i++) {
      for (int at = 0; at < large.length; at++) {
        large[at] = (byte) (at * 31 + i);
      }
      first.setData("/large", large, -1);
      byte[] found = second.getData("/large", false, null);
      check(Arrays.equals(found, large), "a large value came back changed");
    }
  }

  private void watch() throws KeeperException, InterruptedException {
    create("/watched", "");
    int nodes = 100;
    CountDownLatch fired = new CountDownLatch(nodes);
    Set<String> paths = ConcurrentHashMap.newKeySet();
    Watcher watcher = event -> note(event, paths, fired);
    for (int i = 0; i < nodes; i++) {
      create("/watched/n" + i, "");
      second.getData("/watched/n" + i, watcher, null);
    }
    for (int i = 0; i < nodes; i++) {
      first.setData("/watched/n" + i, new byte[] {1}, -1);
    }
    await("watches", fired);
    check(paths.size() == nodes, paths.size() + " watches fired instead of " + nodes);
  }

  private static void note(WatchedEvent event, Set<String> paths, CountDownLatch fired) {
    if (event.getType() == Watcher.Event.EventType.NodeDataChanged && paths.add(event.getPath())) {
      fired.countDown();
    }
  }

  private void watchEphemeralNodes() throws Exception {
    ZooKeeper third = connect();
    third.create("/gone", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    CountDownLatch gone = new CountDownLatch(1);
    check(first.exists("/gone", event -> gone.countDown()) != null, "/gone is missing");
    third.close();
    await("the end of an ephemeral node", gone);
  }

  private void create(String path, String value) throws KeeperException, InterruptedException {
    first.create(path, value.getBytes(UTF_8), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
  }

  private static void await(String what, CountDownLatch latch) throws InterruptedException {
    check(latch.await(30, TimeUnit.SECONDS), what + ": " + latch.getCount() + " missing");
  }

  private static void check(boolean right, String complaint) {
    if (!right) {
      throw new IllegalStateException(complaint);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A session with one of several ZooKeeper servers that continues writing while its server dies, and
 * must find itself, its ephemeral node, its watch and every value again at another one. Says
 * {@code @begun} with the port of its server, {@code @survived} with the port of the next one, and
 * {@code @reread} when told to {@code reread} it all in sessions with particular servers.
 */
public final class ZooKeeperSurvivor {
  private static final int SESSION_TIMEOUT_MS = 40_000;
  private static final int PATIENCE_S = 60;
  private static final Pattern REMOTE = Pattern.compile("remoteserver:\\S*:(\\d+) ");

  private final Session session;
  private final int rounds;
  private int nodes;

  private ZooKeeperSurvivor(Args args) throws Exception {
    session = new Session(args.text("servers", ""));
    rounds = args.count("rounds", 100);
  }

  /**
   * Runs the program.
   *
   * @param arguments servers=host:port,..., rounds
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          ZooKeeperSurvivor survivor = new ZooKeeperSurvivor(args);
          survivor.run();
          for (String command = Console.command(); !command.equals("close"); ) {
            survivor.reread(command);
            command = Console.command();
          }
          survivor.session.client.close();
          Console.say("closed");
          Console.awaitEnd();
        });
  }

  private void run() throws Exception {
    ZooKeeper client = session.client;
    create("/ephemeral", new byte[0], CreateMode.EPHEMERAL);
    create("/watched", new byte[0], CreateMode.PERSISTENT);
    create("/data", new byte[0], CreateMode.PERSISTENT);
    CountDownLatch fired = new CountDownLatch(1);
    client.getData("/watched", event -> fire(event, fired), null);
    write(rounds);
    final long id = client.getSessionId();
    final int before = port();
    Console.say("begun", "port", before);
    while (session.lost.getCount() > 0) {
      write(1);
    }
    await("another server", session.found);
    write(rounds);
    int after = port();
    check(after != before, "still at port " + before);
    check(client.getSessionId() == id, "another session");
    check(session.connections == 2, session.connections + " connections instead of 2");
    Stat ephemeral = client.exists("/ephemeral", false);
    check(ephemeral != null && ephemeral.getEphemeralOwner() == id, "ephemeral node " + ephemeral);
    check(fired.getCount() == 1, "the watch has fired before the node changed");
    client.setData("/watched", new byte[] {1}, -1);
    await("the watch", fired);
    readAll(client);
    Console.say("survived", "port", after, "nodes", nodes);
  }

  /** Reads everything through one server in a session of its own. */
  private void reread(String server) throws Exception {
    ZooKeeper client = new Session(server).client;
    CountDownLatch synced = new CountDownLatch(1);
    client.sync("/", (code, path, context) -> synced.countDown(), null);
    await("sync", synced);
    readAll(client);
    check(client.exists("/ephemeral", false) != null, "no ephemeral node at " + server);
    client.close();
    Console.say("reread");
  }

  private void write(int count) throws KeeperException, InterruptedException {
    for (int i = 0; i < count; i++) {
      create("/data/n" + nodes, value(nodes), CreateMode.PERSISTENT);
      nodes++;
    }
  }

  private void readAll(ZooKeeper client) throws KeeperException, InterruptedException {
    List<String> children = client.getChildren("/data", false);
    check(children.size() == nodes, children.size() + " nodes instead of " + nodes);
    for (int i = 0; i < nodes; i++) {
      byte[] found = client.getData("/data/n" + i, false, null);
      check(Arrays.equals(found, value(i)), "node " + i + " has another value");
    }
  }

  private static byte[] value(int node) {
    return ("value-" + node + "-").repeat(1 + node % 50).getBytes(UTF_8);
  }

  /** As applications do: a lost connection leaves open whether the node is there, so try again. */
  private void create(String path, byte[] value, CreateMode mode)
      throws KeeperException, InterruptedException {
    boolean doubtful = false;
    while (true) {
      try {
        session.client.create(path, value, ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
        return;
      } catch (KeeperException.ConnectionLossException e) {
        doubtful = true;
      } catch (KeeperException.NodeExistsException e) {
        if (doubtful) {
          return;
        }
        throw e;
      }
    }
  }

  /** The port of the server that the session is connected to. */
  private int port() {
    Matcher remote = REMOTE.matcher(session.client.toString());
    check(remote.find(), "no server in " + session.client);
    return Integer.parseInt(remote.group(1));
  }

  private static void fire(WatchedEvent event, CountDownLatch fired) {
    if (event.getType() == Watcher.Event.EventType.NodeDataChanged) {
      fired.countDown();
    }
  }

  private static void await(String what, CountDownLatch latch) throws InterruptedException {
    check(latch.await(PATIENCE_S, TimeUnit.SECONDS), what + " has not come");
  }

  private static void check(boolean right, String complaint) {
    if (!right) {
      throw new IllegalStateException(complaint);
    }
  }

  /** A session and what has become of it. */
  private static final class Session implements Watcher {
    final ZooKeeper client;
    final CountDownLatch lost = new CountDownLatch(1);
    final CountDownLatch found = new CountDownLatch(2);
    volatile int connections;

    private final CountDownLatch opened = new CountDownLatch(1);

    Session(String servers) throws IOException, InterruptedException {
      client = new ZooKeeper(servers, SESSION_TIMEOUT_MS, this);
      ZooKeeperSurvivor.await("a session with " + servers, opened);
    }

    /** Called by one thread of the client's. */
    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void process(WatchedEvent event) {
      switch (event.getState()) {
        case SyncConnected -> {
          if (event.getType() == Event.EventType.None) {
            connections++;
            opened.countDown();
            found.countDown();
          }
        }
        case Disconnected -> lost.countDown();
        case Expired -> Console.fail(new IllegalStateException("the session has expired"));
        default -> {}
      }
    }
  }
}

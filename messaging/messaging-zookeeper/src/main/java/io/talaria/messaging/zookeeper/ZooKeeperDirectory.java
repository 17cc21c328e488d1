// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.zookeeper;

import io.talaria.messaging.NodeDirectory;
import io.talaria.messaging.NodeOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;

/**
 * Where nodes are, as ZooKeeper knows it: each announces itself by an ephemeral znode, and all see
 * them come and go.
 *
 * <pre>
 *   /talaria/nodes/CLUSTER/ID    data: HOST:PORT in UTF-8; CLUSTER is "default" for the empty name
 * </pre>
 *
 * <p>What is known stays known while ZooKeeper cannot be reached: a lost member, or a lost
 * majority, ends no connection and hides no node. An announcement comes back by itself after a lost
 * session. Any thread; {@link #address} never waits. Who made it closes it, after its nodes.
 *
 * <pre>{@code
 * try (var directory = ZooKeeperDirectory.connect("zk1:2181,zk2:2181,zk3:2181", "shop", limit);
 *     Node node = Nodes.start(NodeOptions.of(7).cluster("shop").listen("0.0.0.0", 2998)
 *         .directory(directory).key(keyFile))) {
 *   directory.announce(7, "host7", node.port(), limit);
 *   ...
 * }
 * }</pre>
 */
public final class ZooKeeperDirectory implements NodeDirectory, AutoCloseable {
  private static final String ROOT = "/talaria/nodes/";
  private static final int FIRST_RETRY_MS = 100;
  private static final int RETRIES = 10;
  private static final int MAX_RETRY_MS = 5_000;
  private static final int MAX_BYTES = 512;
  private static final int MAX_PORT = 65_535;

  private final CuratorFramework client;
  private final CuratorCache cache;
  private final String path;
  private final Map<Integer, InetSocketAddress> nodes = new ConcurrentHashMap<>();
  private final List<PersistentNode> announced = new CopyOnWriteArrayList<>();
  private final CountDownLatch read = new CountDownLatch(1);

  private ZooKeeperDirectory(CuratorFramework client, String cluster) {
    this.client = client;
    path = ROOT + (cluster.isEmpty() ? "default" : cluster);
    cache = CuratorCache.build(client, path);
    cache
        .listenable()
        .addListener(
            CuratorCacheListener.builder()
                .forCreates(this::came)
                .forChanges((before, now) -> came(now))
                .forDeletes(this::went)
                .forInitialized(read::countDown)
                .build());
  }

  /**
   * Connects, and reads who is there.
   *
   * @param ensemble {@code HOST:PORT} of ZooKeeper's members, separated by commas
   * @param cluster the nodes' {@link NodeOptions#cluster}; not {@code default}, and without slashes
   * @param limit how long to wait for a response, at least 1 ms; also how long ZooKeeper keeps the
   *     announcements of a process that has ended without a word, within what its members allow
   * @throws IOException if none of them has answered within the limit; nothing is left running
   */
  public static ZooKeeperDirectory connect(String ensemble, String cluster, Duration limit)
      throws IOException {
    Objects.requireNonNull(ensemble, "ensemble");
    if (cluster.contains("/") || cluster.equals("default") || cluster.startsWith(".")) {
      throw new IllegalArgumentException(
          "cluster is \"" + cluster + "\": it may not be \"default\", nor have slashes");
    }
    int limitMs = Math.toIntExact(limit.toMillis());
    if (limitMs < 1) {
      throw new IllegalArgumentException("limit is " + limit + ", it must be at least 1 ms");
    }
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(
            ensemble,
            limitMs,
            limitMs,
            new ExponentialBackoffRetry(FIRST_RETRY_MS, RETRIES, MAX_RETRY_MS));
    client.start();
    ZooKeeperDirectory directory = new ZooKeeperDirectory(client, cluster);
    boolean good = false;
    try {
      directory.cache.start();
      long until = System.nanoTime() + limit.toNanos();
      boolean there = client.blockUntilConnected(limitMs, TimeUnit.MILLISECONDS);
      if (!there || !directory.read.await(until - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        throw new IOException("ZooKeeper at " + ensemble + " has not answered within " + limit);
      }
      good = true;
      return directory;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while ZooKeeper at " + ensemble + " was asked", e);
    } finally {
      if (!good) {
        directory.close();
      }
    }
  }

  /**
   * Says where a node of this process is, until this is closed or the process ends. Waits for
   * ZooKeeper up to the limit.
   *
   * @param node its id, from 0 to 65,534
   * @param host a name or an address at which others reach it
   * @param port from 1 to 65,535
   * @throws IOException if ZooKeeper has not taken it within the limit; it is tried on, until this
   *     is closed
   */
  public void announce(int node, String host, int port, Duration limit) throws IOException {
    if (node < 0 || node > NodeOptions.MAX_ID || port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException(
          "node "
              + node
              + " at port "
              + port
              + ": they must be from 0 to "
              + NodeOptions.MAX_ID
              + " and from 1 to "
              + MAX_PORT);
    }
    byte[] data = (host + ":" + port).getBytes(StandardCharsets.UTF_8);
    PersistentNode own =
        new PersistentNode(client, CreateMode.EPHEMERAL, false, path + "/" + node, data);
    announced.add(own);
    own.start();
    try {
      if (!own.waitForInitialCreate(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException("ZooKeeper has not taken node " + node + " within " + limit);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while node " + node + " was announced", e);
    }
  }

  /** Who is known now. */
  public Map<Integer, InetSocketAddress> nodes() {
    return Map.copyOf(nodes);
  }

  @Override
  public InetSocketAddress address(int node) {
    return nodes.get(node);
  }

  private void came(ChildData data) {
    int node = node(data);
    InetSocketAddress address = node < 0 ? null : parse(data.getData());
    if (address != null) {
      nodes.put(node, address);
    }
  }

  private void went(ChildData data) {
    int node = node(data);
    if (node >= 0) {
      nodes.remove(node);
    }
  }

  /** The id that a znode stands for; -1 if it stands for none. */
  private int node(ChildData data) {
    String znode = data.getPath();
    if (!znode.startsWith(path + "/")) {
      return -1;
    }
    String id = znode.substring(path.length() + 1);
    if (id.isEmpty()
        || id.length() > 5
        || !id.chars().allMatch(each -> each >= '0' && each <= '9')) {
      return -1;
    }
    int node = Integer.parseInt(id);
    return node <= NodeOptions.MAX_ID ? node : -1;
  }

  /** What anybody with access may have written; null if it is no address. */
  static InetSocketAddress parse(byte[] data) {
    if (data == null || data.length > MAX_BYTES) {
      return null;
    }
    String text = new String(data, StandardCharsets.UTF_8);
    int colon = text.lastIndexOf(':');
    String port = text.substring(colon + 1);
    if (colon < 1 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) > MAX_PORT) {
      return null;
    }
    // Not looked up here: the node does that when it connects.
    return InetSocketAddress.createUnresolved(text.substring(0, colon), Integer.parseInt(port));
  }

  /** For tests, which want to know to which member this is connected. */
  ZooKeeper zooKeeper() throws Exception {
    return client.getZookeeperClient().getZooKeeper();
  }

  /** Takes the announcements back, and ends the connection to ZooKeeper. */
  @Override
  public void close() {
    for (PersistentNode each : announced) {
      try {
        each.close();
      } catch (IOException e) {
        // It goes with the session.
      }
    }
    cache.close();
    client.close();
  }
}

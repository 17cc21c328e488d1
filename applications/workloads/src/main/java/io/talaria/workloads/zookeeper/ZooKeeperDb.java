// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import io.talaria.bench.compare.Peer;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.ycsb.Failures;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * YCSB's binding of ZooKeeper: a record is a node below the node of its table, and its only field
 * is the node's data. Used by one thread.
 */
final class ZooKeeperDb extends DB {
  private static final String ONLY_FIELD = "field0";
  private static final int ANY_VERSION = -1;

  private final HostPort server;
  private final ZooKeeper session;
  private final Failures failures;

  ZooKeeperDb(HostPort server, ZooKeeper session, Failures failures) {
    this.server = server;
    this.session = session;
    this.failures = failures;
  }

  /** An operation on a node. */
  @FunctionalInterface
  private interface Operation {
    void run(String path) throws KeeperException, InterruptedException;
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return on(
        table,
        key,
        path ->
            result.put(ONLY_FIELD, new ByteArrayByteIterator(session.getData(path, false, null))));
  }

  @Override
  @SuppressWarnings("NonApiType") // YCSB's signature.
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    byte[] data = data(values);
    return on(table, key, path -> session.setData(path, data, ANY_VERSION));
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    byte[] data = data(values);
    return on(
        table, key, path -> session.create(path, data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
  }

  @Override
  public Status delete(String table, String key) {
    return on(table, key, path -> session.delete(path, ANY_VERSION));
  }

  private Status on(String table, String key, Operation operation) {
    String path = "/" + table + "/" + key;
    try {
      operation.run(path);
      return Status.OK;
    } catch (KeeperException e) {
      Code code = e.code();
      return code == Code.NONODE || code == Code.NODEEXISTS
          ? failures.failed(e.getMessage())
          : failures.lost(Peer.lost(server, "", e).getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return failures.lost("interrupted");
    }
  }

  private static byte[] data(Map<String, ByteIterator> values) {
    return values.values().iterator().next().toArray();
  }
}

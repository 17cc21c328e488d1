// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.grpc.MethodDescriptor;
import io.netty.channel.EventLoopGroup;
import io.talaria.bench.compare.Peer;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A client of the key-value store: one connection to each server, of which the key's hash chooses.
 * Calls block, for ten seconds at most; any thread may make them. The caller that connects it
 * closes it.
 */
public final class KvsClient implements AutoCloseable {
  private static final Query NOTHING = new Query("", List.of(), 0);

  private final List<ServerLink> links;
  private final ServerChoice choice;

  private KvsClient(List<ServerLink> links) {
    this.links = List.copyOf(links);
    this.choice = new ServerChoice(links.size());
  }

  /**
   * Connects to all servers.
   *
   * @param servers where they are; all clients must name them in the same order
   * @param loops the event loops, which outlive the client
   * @throws HarnessException if a server does not answer
   */
  public static KvsClient connect(List<HostPort> servers, EventLoopGroup loops)
      throws HarnessException {
    List<ServerLink> links = new ArrayList<>();
    for (HostPort server : servers) {
      ServerLink link = new ServerLink(server, loops);
      links.add(link);
      try {
        link.scan(NOTHING);
      } catch (KvsException e) {
        links.forEach(ServerLink::close);
        throw Peer.cannotConnect(server, e);
      }
    }
    return new KvsClient(links);
  }

  /**
   * Asks all servers for nothing, and awaits their answers.
   *
   * @throws KvsException if a server does not answer
   */
  public void ping() throws KvsException {
    for (ServerLink link : links) {
      link.scan(NOTHING);
    }
  }

  /** Returns how many connections it has. */
  public int connections() {
    return links.size();
  }

  /**
   * Adds a record.
   *
   * @param row the record
   * @throws KvsException if there is one of its key, or the server does not answer
   */
  public void insert(Row row) throws KvsException {
    call(KvsProtocol.INSERT, row.key(), row);
  }

  /**
   * Sets some fields of a record.
   *
   * @param row the fields
   * @throws KvsException if there is no such record, or the server does not answer
   */
  public void update(Row row) throws KvsException {
    call(KvsProtocol.UPDATE, row.key(), row);
  }

  /**
   * Returns a record.
   *
   * @param key which
   * @param names the fields wanted; none for all. Those that the record lacks are left out
   * @throws KvsException if there is no such record, or the server does not answer
   */
  public Row get(String key, List<String> names) throws KvsException {
    return call(KvsProtocol.GET, key, new Query(key, names, 0));
  }

  /**
   * Removes a record.
   *
   * @param key which
   * @throws KvsException if there is no such record, or the server does not answer
   */
  public void delete(String key) throws KvsException {
    call(KvsProtocol.DELETE, key, new Query(key, List.of(), 0));
  }

  /**
   * Returns the records from a key on, in the order of keys, over all servers.
   *
   * @param key the first one, which need not exist
   * @param limit how many at most
   * @param names the fields wanted; none for all
   * @throws KvsException if a server refuses or does not answer
   */
  public List<Row> scan(String key, int limit, List<String> names) throws KvsException {
    // Hashing spreads neighbours: any server may hold all of them.
    List<Row> rows = new ArrayList<>();
    for (ServerLink link : links) {
      rows.addAll(link.scan(new Query(key, names, limit)));
    }
    rows.sort(Comparator.comparing(Row::key));
    return rows.size() <= limit ? rows : rows.subList(0, limit);
  }

  private <T> Row call(MethodDescriptor<T, Row> method, String key, T request) throws KvsException {
    return links.get(choice.of(key)).call(method, key, request);
  }

  @Override
  public void close() {
    links.forEach(ServerLink::close);
  }
}

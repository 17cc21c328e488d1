// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Token;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * All measuring JVMs that a run may have at once: half of them here, the others here, too, or at a
 * {@link BenchmarkServer}. Used by one thread, which closes it.
 */
public final class WorkerPool implements AutoCloseable {
  static final String HERE = "127.0.0.1";

  private final List<Measurer> servers = new ArrayList<>();
  private final List<Measurer> clients = new ArrayList<>();
  private final String host;
  private final String versions;

  private WorkerPool(String host, String versions) {
    this.host = host;
    this.versions = versions;
  }

  /**
   * Gathers JVMs of this machine only.
   *
   * @param processes how many at most
   * @param server how those of the server's side are started
   * @param client how those of the client's side are started
   */
  public static WorkerPool here(int processes, JvmStarter server, JvmStarter client) {
    WorkerPool workerPool =
        new WorkerPool(
            HERE, versions(BuildVersion.talaria(), System.getProperty("java.runtime.version")));
    for (int i = 0; i < onServer(processes); i++) {
      workerPool.servers.add(new LocalMeasurer(server));
    }
    return workerPool.withClients(processes, client);
  }

  /**
   * Gathers JVMs of this machine, and of another for the server's side.
   *
   * @param processes how many at most
   * @param benchmarkServer where the benchmark server listens
   * @param token the token that it expects
   * @param client how the JVMs of this side are started
   * @throws HarnessException if there is no benchmark server, or it refuses
   */
  public static WorkerPool with(
      int processes, InetSocketAddress benchmarkServer, String token, JvmStarter client)
      throws HarnessException {
    String run = Token.random();
    List<RemoteMeasurer> connected = new ArrayList<>();
    try {
      for (int i = 0; i < onServer(processes); i++) {
        connected.add(RemoteMeasurer.connect(benchmarkServer, token, run));
      }
    } catch (HarnessException e) {
      connected.forEach(RemoteMeasurer::close);
      throw e;
    }
    RemoteMeasurer first = connected.getFirst();
    WorkerPool workerPool = new WorkerPool(first.host(), versions(first.talaria(), first.java()));
    workerPool.servers.addAll(connected);
    return workerPool.withClients(processes, client);
  }

  private static String versions(String talaria, String java) {
    return "Talaria " + talaria + ", Java " + java;
  }

  private WorkerPool withClients(int processes, JvmStarter client) {
    for (int i = onServer(processes); i < processes; i++) {
      clients.add(new LocalMeasurer(client));
    }
    return this;
  }

  /** Returns how many of some processes run on the server's side. */
  static int onServer(int processes) {
    return processes / 2;
  }

  /** Returns how this machine reaches the server's side. */
  public String host() {
    return host;
  }

  /** Returns the versions on the server's side. */
  public String serverVersions() {
    return versions;
  }

  /**
   * Chooses processes of both sides, the server's first: it may be unable to connect to here.
   *
   * @param processes how many
   * @return a worker group whose JVMs are not started yet; to be closed before the next one is
   *     chosen
   */
  public WorkerGroup workerGroup(int processes) {
    List<Measurer> members = new ArrayList<>(servers.subList(0, onServer(processes)));
    members.addAll(clients.subList(0, processes - onServer(processes)));
    return new WorkerGroup(members, host);
  }

  @Override
  public void close() {
    clients.forEach(Measurer::close);
    servers.forEach(Measurer::close);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.ChildSpec;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.ucx.UcxPeer.Job;
import io.talaria.bench.ucx.UcxPeer.Listening;
import io.talaria.bench.ucx.UcxPeer.Order;
import io.talaria.bench.ucx.UcxPeer.Scores;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The two child JVMs as their parent sees them; with a server on another host, one. Used by one
 * thread, which closes it.
 */
final class Duo implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration CASE_LIMIT = Duration.ofMinutes(10);

  /**
   * JMH's forks get the same options. Its lock, which would keep two runs apart, is one file for
   * all users.
   */
  private static final List<String> JVM_OPTIONS =
      List.of(
          "--enable-native-access=ALL-UNNAMED",
          "-XX:+UseSerialGC",
          "-Xmx256m",
          "-Djmh.ignoreLock=true");

  private final ChildJvm server;
  private final ChildJvm client;
  private final String ucx;

  private Duo(ChildJvm server, ChildJvm client, String ucx) {
    this.server = server;
    this.client = client;
    this.ucx = ucx;
  }

  /** Starts a child that obeys a job, and waits until it is ready. */
  static ChildJvm start(Job job, List<String> jvmOptions)
      throws HarnessException, InterruptedException, UcxMissingException {
    List<String> options = new ArrayList<>(JVM_OPTIONS);
    options.addAll(jvmOptions);
    String name = job.server() ? "server" : "client";
    ChildJvm child = ChildJvm.start(new ChildSpec(name, UcxPeer.class, job.core(), null, options));
    try {
      child.await("hello", Object.class, START_LIMIT);
      child.send(job);
      return child;
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      child.close();
      throw e;
    }
  }

  /** Waits until a child is ready; closes it if that fails. */
  static Listening awaitReady(ChildJvm child)
      throws HarnessException, InterruptedException, UcxMissingException {
    try {
      ChildJvm.Event event = child.next("ready", START_LIMIT);
      if (event.name().equals("unavailable")) {
        throw new UcxMissingException(event.payload().path("message").asText());
      }
      if (event.name().equals("refused")) {
        throw new HarnessException(event.payload().path("message").asText());
      }
      return event.as(Listening.class);
    } catch (HarnessException | InterruptedException | RuntimeException | UcxMissingException e) {
      child.close();
      throw e;
    }
  }

  /**
   * Starts both on this host.
   *
   * @param token what the client must know
   * @param pinning which sits on which core
   * @param jvmOptions further options for all JVMs
   * @throws UcxMissingException if UCX cannot be used
   */
  static Duo here(String token, Pinning pinning, List<String> jvmOptions)
      throws HarnessException, InterruptedException, UcxMissingException {
    String host = "127.0.0.1";
    ChildJvm server = start(new Job(true, host, 0, token, pinning.serverCore()), jvmOptions);
    int port = awaitReady(server).port();
    try {
      Duo both = to(host, port, token, pinning, jvmOptions);
      return new Duo(server, both.client, both.ucx);
    } catch (HarnessException | InterruptedException | RuntimeException | UcxMissingException e) {
      server.close();
      throw e;
    }
  }

  /**
   * Starts the client alone.
   *
   * @param host where the server is
   * @param port its port
   * @param token what the server wants to hear
   * @param pinning which sits on which core
   * @param jvmOptions further options for the JVM
   * @throws UcxMissingException if UCX cannot be used here
   */
  static Duo to(String host, int port, String token, Pinning pinning, List<String> jvmOptions)
      throws HarnessException, InterruptedException, UcxMissingException {
    ChildJvm client = start(new Job(false, host, port, token, pinning.clientCore()), jvmOptions);
    return new Duo(null, client, awaitReady(client).ucx());
  }

  /** Returns the release of UCX on the client's side. */
  String ucx() {
    return ucx;
  }

  /** Has the client measure a case. */
  List<Double> measure(Order order) throws HarnessException, InterruptedException {
    client.send(order);
    return client.await("scores", Scores.class, CASE_LIMIT).scores();
  }

  @Override
  public void close() {
    client.close();
    if (server != null) {
      server.close();
    }
  }
}

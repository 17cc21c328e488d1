// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.ParentLink;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.openjdk.jmh.runner.RunnerException;

/** The program of both child JVMs: the server, or the client that hands cases to JMH. */
public final class UcxPeer {
  private UcxPeer() {}

  /**
   * What the parent orders.
   *
   * @param server whether it is the server
   * @param host where to listen, or where the server is
   * @param port the same; 0 for any
   * @param token what clients must know
   * @param core the core that this process sits on
   */
  record Job(boolean server, String host, int port, String token, int core) {}

  /**
   * Where the server listens.
   *
   * @param port the port
   * @param ucx the release of UCX here
   */
  record Listening(int port, String ucx) {}

  /**
   * What the client shall measure next.
   *
   * @param what the case
   * @param timing how long
   * @param transports {@code UCX_TLS}; empty for UCX's choice
   * @param yields whether to leave the core to others when there is nothing to do
   */
  record Order(Case what, UcxTiming timing, String transports, boolean yields) {}

  /**
   * What it has measured.
   *
   * @param scores of each iteration: nanoseconds, or operations a second
   */
  record Scores(List<Double> scores) {}

  /**
   * Does what the parent orders on standard input.
   *
   * @param args none
   */
  public static void main(String[] args) {
    ParentLink.serve(UcxPeer::run);
  }

  private static void run(ParentLink link)
      throws IOException, InterruptedException, RunnerException {
    Job job = link.receive(Job.class);
    Optional<String> obstacle = Ucx.obstacle();
    if (obstacle.isPresent()) {
      link.report("unavailable", Map.of("message", obstacle.get()));
      return;
    }
    try {
      if (job.server()) {
        serve(link, job);
      } else {
        measure(link, job);
      }
    } catch (ControlException e) {
      link.report("refused", Map.of("message", e.getMessage()));
    }
  }

  private static void serve(ParentLink link, Job job) throws IOException {
    InetSocketAddress address =
        job.host().isEmpty()
            ? new InetSocketAddress(job.port())
            : new InetSocketAddress(job.host(), job.port());
    try (FollowServer server = FollowServer.open(address, job.token(), job.core())) {
      link.report("ready", new Listening(server.port(), Ucx.version()));
      server.serve();
    }
  }

  private static void measure(ParentLink link, Job job)
      throws IOException, InterruptedException, RunnerException {
    // Refused here rather than in a fork of JMH's: its message is for people.
    ControlLink.connect(new InetSocketAddress(job.host(), job.port()), job.token()).close();
    Path token = Files.createTempFile("talaria-bench-ucx", ".token");
    token.toFile().deleteOnExit();
    Files.writeString(token, job.token());
    link.report("ready", new Listening(job.port(), Ucx.version()));
    while (true) {
      link.report("scores", JmhRun.of(job, token, link.receive(Order.class)));
    }
  }
}

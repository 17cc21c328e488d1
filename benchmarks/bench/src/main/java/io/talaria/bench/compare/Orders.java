// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Json;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.time.Duration;
import java.util.function.Consumer;

/** What the command sends to the JVMs of a workload, and receives from them. */
public final class Orders {
  /** How long a JVM may say nothing. */
  public static final Duration SILENCE = Duration.ofSeconds(60);

  /**
   * The event that a client reports while it works; a client that reports it often is not taken for
   * dead.
   */
  public static final String PROGRESS = "progress";

  /** What a client says of itself when its warm-up is over. */
  public static final String MEASURING = "measuring";

  static final String LISTENING = "listening";
  static final String RESULT = "result";

  /** The limit for a wait that only the user ends. */
  public static final Duration FOR_EVER = Duration.ofDays(36_500);

  private Orders() {}

  /** Returns an address of this machine alone, with any free port. */
  public static HostPort local() {
    return new HostPort(InetAddress.getLoopbackAddress().getHostAddress(), 0);
  }

  /**
   * Has a server listen.
   *
   * @param server its JVM
   * @param where where
   * @param job what else it must know
   * @return where it listens, with the port it has taken
   * @throws HarnessException if it cannot
   * @throws InterruptedException if interrupted
   */
  public static HostPort listen(ChildJvm server, HostPort where, Object job)
      throws HarnessException, InterruptedException {
    server.send(new Task(true, where, Json.tree(job)));
    return new HostPort(where.host(), server.await(LISTENING, Integer.class, SILENCE));
  }

  /**
   * Has a client begin.
   *
   * @param client its JVM
   * @param where where its server listens
   * @param job what to do
   * @throws HarnessException if it has gone
   */
  public static void connect(ChildJvm client, HostPort where, Object job) throws HarnessException {
    client.send(new Task(false, where, Json.tree(job)));
  }

  /**
   * Waits for what a client has found.
   *
   * @param <T> the result's type
   * @param client its JVM
   * @param type the result's type
   * @param silence how long it may say nothing
   * @param progress is given what it reports on the way
   * @throws HarnessException if it failed, or fell silent
   * @throws InterruptedException if interrupted
   */
  public static <T> T result(
      ChildJvm client, Class<T> type, Duration silence, Consumer<JsonNode> progress)
      throws HarnessException, InterruptedException {
    while (true) {
      ChildJvm.Event event = client.next(RESULT, silence);
      if (event.name().equals(RESULT)) {
        return event.as(type);
      }
      progress.accept(event.payload());
    }
  }

  /**
   * Serves until this process is stopped.
   *
   * @param launch how to start the server
   * @param main the class it runs
   * @param where where it listens
   * @param job what else it must know
   * @param out where to say so
   * @throws HarnessException if it fails
   * @throws InterruptedException if interrupted
   */
  public static void serve(
      Launch launch, Class<?> main, HostPort where, Object job, PrintWriter out)
      throws HarnessException, InterruptedException {
    try (ChildJvm server = launch.server(main)) {
      HostPort bound = listen(server, where, job);
      out.println("listening on " + bound + ", on " + launch.describe() + "; Ctrl-C ends it");
      out.flush();
      server.next("end", FOR_EVER);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A server JVM and a client JVM on the same kind of sockets. Used by one thread, which closes it.
 *
 * @param server the server
 * @param client the client
 */
public record Pair(ChildJvm server, ChildJvm client) implements AutoCloseable {
  /**
   * A property for working on the harness itself: if set to true, both implementations run on the
   * JDK's sockets, and no agent is needed.
   */
  public static final String PLAIN_PROPERTY = "talaria.harness.plain";

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final String JDK_PACKAGE = "sun.nio.ch.";

  /** Returns whether both implementations run plain. */
  public static boolean bothPlain() {
    return Boolean.getBoolean(PLAIN_PROPERTY);
  }

  /**
   * Starts both JVMs at once, and checks that they run on the sockets wanted.
   *
   * @param mainClass the class that both run
   * @param implementation the implementation whose sockets are used
   * @param agent the agent's jar; used for implementations {@linkplain Implementation#onTalaria on
   *     Talaria} only
   * @param pinning which core for which
   * @param jvmOptions further options for both
   * @throws HarnessException if one does not start, or runs on the wrong sockets
   * @throws InterruptedException if interrupted
   */
  public static Pair start(
      Class<?> mainClass,
      Implementation implementation,
      Path agent,
      Pinning pinning,
      List<String> jvmOptions)
      throws HarnessException, InterruptedException {
    Path jar = talaria(implementation) ? agent : null;
    ChildJvm server =
        ChildJvm.start(new ChildSpec("server", mainClass, pinning.serverCore(), jar, jvmOptions));
    ChildJvm client = null;
    try {
      client =
          ChildJvm.start(new ChildSpec("client", mainClass, pinning.clientCore(), jar, jvmOptions));
      greet(server, "server", implementation);
      greet(client, "client", implementation);
      return new Pair(server, client);
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      server.close();
      if (client != null) {
        client.close();
      }
      throw e;
    }
  }

  /**
   * Starts one JVM of those that a program needs, and checks that it runs on the sockets wanted.
   *
   * @param spec what to start; with an agent for {@link Implementation#TALARIA} only
   * @param implementation the implementation whose sockets are used
   * @return the JVM, which has said hello; the caller closes it
   * @throws HarnessException if it does not start, or runs on the wrong sockets
   * @throws InterruptedException if interrupted
   */
  public static ChildJvm startOne(ChildSpec spec, Implementation implementation)
      throws HarnessException, InterruptedException {
    ChildJvm child = ChildJvm.start(spec);
    try {
      greet(child, spec.name(), implementation);
      return child;
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      child.close();
      throw e;
    }
  }

  /**
   * Starts several JVMs at once, like {@link #startOne}.
   *
   * @param specs what to start
   * @param implementation the implementation whose sockets are used
   * @return the JVMs, which have said hello, in the order of their specifications; the caller
   *     closes them
   * @throws HarnessException if one does not start, or runs on the wrong sockets
   * @throws InterruptedException if interrupted
   */
  public static List<ChildJvm> startAll(List<ChildSpec> specs, Implementation implementation)
      throws HarnessException, InterruptedException {
    List<ChildJvm> children = new ArrayList<>();
    try {
      for (ChildSpec each : specs) {
        children.add(ChildJvm.start(each));
      }
      for (int i = 0; i < children.size(); i++) {
        greet(children.get(i), specs.get(i).name(), implementation);
      }
      return children;
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      children.forEach(ChildJvm::close);
      throw e;
    }
  }

  private static boolean talaria(Implementation implementation) {
    return implementation.onTalaria() && !bothPlain();
  }

  private static void greet(ChildJvm child, String name, Implementation implementation)
      throws HarnessException, InterruptedException {
    boolean talaria = talaria(implementation);
    String provider = child.await("hello", JsonNode.class, START_LIMIT).path("provider").asText();
    if (talaria == provider.startsWith(JDK_PACKAGE)) {
      throw new HarnessException(
          "the "
              + name
              + " runs on "
              + provider
              + (talaria
                  ? ": the agent did not switch Talaria on"
                  : ": this run must use the JDK's own sockets"));
    }
  }

  /**
   * Fails unless all connections were accelerated, or, of Talaria on TCP, none.
   *
   * @param implementation whose sockets the pair runs on
   * @param side who looked
   * @param transports what it saw
   * @param connections how many connections there must be
   * @throws HarnessException if some were not as they must be
   */
  public static void requireAccelerated(
      Implementation implementation,
      String side,
      TransportProbe.Transports transports,
      int connections)
      throws HarnessException {
    if (!talaria(implementation)) {
      return;
    }
    if (implementation == Implementation.TALARIA_ON_TCP) {
      if (transports.accelerated() > 0) {
        throw new HarnessException(
            "ACCELERATED: all ports are left out, and the "
                + side
                + " saw "
                + transports.describe());
      }
    } else if (transports.accelerated() < connections || transports.plain() > 0) {
      throw new HarnessException(
          "NOT ACCELERATED: of "
              + connections
              + " connections, the "
              + side
              + " saw "
              + transports.accelerated()
              + " on a transport: "
              + transports.describe());
    }
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}

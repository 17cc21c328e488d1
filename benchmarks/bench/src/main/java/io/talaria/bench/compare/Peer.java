// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.ParentLink;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;

/** The child's end of {@link Orders}: what the main method of a workload's JVM calls. */
public final class Peer {
  private static final String WILDCARD = "0.0.0.0";

  private Peer() {}

  /** What a server does. */
  @FunctionalInterface
  public interface ServerBody {
    /**
     * Starts to serve.
     *
     * @param task where, and what
     * @throws Exception if it cannot; a {@link HarnessException} is for the user
     */
    Service open(Task task) throws Exception;
  }

  /** What a client does. */
  @FunctionalInterface
  public interface ClientBody {
    /**
     * Does the work.
     *
     * @param link for what is reported on the way
     * @param task where the server is, and what to do
     * @return the result, a record or a map
     * @throws Exception if it failed; a {@link HarnessException} is for the user
     */
    Object run(ParentLink link, Task task) throws Exception;
  }

  /**
   * Waits for the task, does it, and ends this process.
   *
   * @param server what to do as server
   * @param client what to do as client
   */
  public static void serve(ServerBody server, ClientBody client) {
    ParentLink.serve(
        link -> {
          Task task = link.receive(Task.class);
          if (!task.server()) {
            link.report(Orders.RESULT, client.run(link, task));
            return;
          }
          try (Service service = server.open(task)) {
            link.report(Orders.LISTENING, service.port());
            // Serves until the parent ends this process.
            link.receive(String.class);
          }
        });
  }

  /**
   * Returns what to tell the user when a server cannot listen.
   *
   * @param where where
   * @param cause why
   */
  public static HarnessException cannotListen(HostPort where, Throwable cause) {
    return new HarnessException(
        "cannot listen on " + where + ": " + reason(cause) + "; choose another with --listen",
        cause);
  }

  /**
   * Returns what to tell the user when a client cannot connect.
   *
   * @param where where to
   * @param cause why
   */
  public static HarnessException cannotConnect(HostPort where, Throwable cause) {
    return new HarnessException(
        "cannot connect to "
            + where
            + ": "
            + reason(cause)
            + "; is the same command with --listen"
            + " running there?",
        cause);
  }

  /**
   * Returns what to tell the user when the other side has gone.
   *
   * @param where where the server was
   * @param when what was going on, {@code after 17 numbers}; may be empty
   * @param cause why
   */
  public static HarnessException lost(HostPort where, String when, Throwable cause) {
    return new HarnessException(
        "lost the connection to "
            + where
            + (when.isEmpty() ? "" : " " + when)
            + ": "
            + reason(cause),
        cause);
  }

  private static String reason(Throwable cause) {
    if (cause instanceof UnknownHostException || cause instanceof UnresolvedAddressException) {
      return "the host is unknown";
    }
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  /**
   * Returns the address to listen on: all of this host if none is named.
   *
   * @param where what the user has said
   */
  public static InetSocketAddress bindAddress(HostPort where) {
    return new InetSocketAddress(where.host().isEmpty() ? WILDCARD : where.host(), where.port());
  }
}

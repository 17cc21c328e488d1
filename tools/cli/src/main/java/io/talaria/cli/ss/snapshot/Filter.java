// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss.snapshot;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Which processes and connections the user wants to see: those that fit each of the sets. An empty
 * set fits all.
 *
 * @param processes process ids, and parts of programs' names
 * @param ends ports and addresses, of which a connection has one at either end
 * @param kinds what a connection is
 */
public record Filter(Processes processes, Ends ends, Kinds kinds) {
  /** Everything. */
  public static final Filter ALL =
      new Filter(
          new Processes(Set.of(), Set.of()),
          new Ends(Set.of(), Set.of()),
          new Kinds(Set.of(), Set.of(), Set.of(), Set.of()));

  /**
   * Which processes.
   *
   * @param pids process ids
   * @param programs parts of programs' names, upper and lower case alike
   */
  public record Processes(Set<Long> pids, Set<String> programs) {
    boolean fit(ProcessInfo process) {
      String name = process.program().toLowerCase(Locale.ROOT);
      return fits(pids, process.pid())
          && (programs.isEmpty()
              || programs.stream().anyMatch(part -> name.contains(part.toLowerCase(Locale.ROOT))));
    }
  }

  /**
   * Which ends.
   *
   * @param ports local or remote ports
   * @param addresses local or remote addresses
   */
  public record Ends(Set<Integer> ports, Set<InetAddress> addresses) {
    boolean fit(ConnectionInfo connection) {
      return fitsEither(ports, connection, InetSocketAddress::getPort)
          && fitsEither(addresses, connection, InetSocketAddress::getAddress);
    }

    private static <T> boolean fitsEither(
        Set<T> wanted, ConnectionInfo connection, Function<InetSocketAddress, T> part) {
      Predicate<InetSocketAddress> fits = end -> end != null && wanted.contains(part.apply(end));
      return wanted.isEmpty() || fits.test(connection.local()) || fits.test(connection.remote());
    }
  }

  /**
   * Which connections and listeners.
   *
   * @param transports their transports
   * @param reasons their reasons
   * @param roles their roles
   * @param states their states
   */
  public record Kinds(
      Set<NioTransport> transports, Set<Reason> reasons, Set<Role> roles, Set<State> states) {
    boolean fit(ConnectionInfo connection) {
      return fits(transports, connection.transport())
          && fits(reasons, connection.reason())
          && fits(roles, connection.role())
          && fits(states, State.of(connection));
    }
  }

  private static <T> boolean fits(Set<T> wanted, T value) {
    return wanted.isEmpty() || wanted.contains(value);
  }

  boolean wants(ProcessInfo process) {
    return processes.fit(process);
  }

  boolean wants(ConnectionInfo connection) {
    return ends.fit(connection) && kinds.fit(connection);
  }

  /** Whether a process is of interest only if one of its connections is. */
  boolean asksForConnections() {
    return !ends.equals(ALL.ends) || !kinds.equals(ALL.kinds);
  }
}

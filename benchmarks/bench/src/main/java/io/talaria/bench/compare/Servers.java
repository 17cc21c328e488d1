// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.ChildJvm;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.util.List;

/** The servers of a client, on this machine or elsewhere; closing ends those of this machine. */
public interface Servers extends AutoCloseable {
  /** Starts servers on this machine. */
  @FunctionalInterface
  interface Starter {
    /**
     * Starts them.
     *
     * @return the servers; the caller closes them
     * @throws HarnessException if one does not start
     * @throws InterruptedException if interrupted
     */
    Servers start() throws HarnessException, InterruptedException;
  }

  /** Returns where they listen. */
  List<HostPort> addresses();

  /** Returns their JVMs on this machine. */
  List<ChildJvm> jvms();

  @Override
  void close();

  /**
   * Returns servers elsewhere, or starts some here.
   *
   * @param remotes where they are elsewhere; empty if there are none
   * @param starter starts some here
   * @throws HarnessException if one does not start
   * @throws InterruptedException if interrupted
   */
  static Servers of(List<HostPort> remotes, Starter starter)
      throws HarnessException, InterruptedException {
    return remotes.isEmpty() ? starter.start() : new Elsewhere(remotes);
  }

  /**
   * Servers that this command has not started.
   *
   * @param addresses where they listen
   */
  record Elsewhere(List<HostPort> addresses) implements Servers {
    /** Copies the addresses. */
    public Elsewhere {
      addresses = List.copyOf(addresses);
    }

    @Override
    public List<ChildJvm> jvms() {
      return List.of();
    }

    @Override
    public void close() {
      // Not ours to end.
    }
  }
}

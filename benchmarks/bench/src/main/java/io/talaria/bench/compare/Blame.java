// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.ChildGoneException;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Finds out why a client has failed: what it tells may only follow from the end of its server. */
public final class Blame {
  /** How long a server that has ended may be seen alive. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private Blame() {}

  /**
   * What is done with servers of this machine.
   *
   * @param <T> what comes of it
   */
  @FunctionalInterface
  public interface Work<T> {
    /**
     * Does it.
     *
     * @return what comes of it
     * @throws HarnessException if it failed
     * @throws InterruptedException if interrupted
     */
    T run() throws HarnessException, InterruptedException;
  }

  /**
   * Does something with servers; if it fails and one of them has ended, tells that instead.
   *
   * @param <T> what comes of it
   * @param servers the servers' JVMs on this machine
   * @param work what to do
   * @return what comes of it
   * @throws HarnessException if it failed: who has ended, else what has failed
   * @throws InterruptedException if interrupted
   */
  public static <T> T servers(List<ChildJvm> servers, Work<T> work)
      throws HarnessException, InterruptedException {
    try {
      return work.run();
    } catch (ChildGoneException e) {
      throw e; // of the client
    } catch (HarnessException e) {
      Optional<ChildGoneException> gone = gone(servers);
      throw gone.isPresent() ? gone.get() : e;
    }
  }

  /** Looks at all of them before it waits for one. */
  private static Optional<ChildGoneException> gone(List<ChildJvm> servers)
      throws InterruptedException {
    for (Duration grace : List.of(Duration.ZERO, GRACE)) {
      for (ChildJvm server : servers) {
        Optional<ChildGoneException> gone = server.gone(grace);
        if (gone.isPresent()) {
          return gone;
        }
      }
    }
    return Optional.empty();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.engine.Phases;
import io.talaria.bench.engine.WorkerGroup;
import io.talaria.bench.engine.WorkerPool;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;

/**
 * What all cases of a run have in common. Used by one thread.
 *
 * @param workerPool by which JVMs
 * @param perftest ucx_perftest's client; null: it is left out
 * @param timing how long
 * @param transports {@code UCX_TLS}; empty for UCX's choice
 * @param spins whether a thread that finds nothing to do keeps its core
 */
record UcxRun(
    WorkerPool workerPool, UcxPerftest perftest, Timing timing, String transports, boolean spins) {
  private static final Duration PHASE_LIMIT = Duration.ofSeconds(60);
  private static final double LIMIT_TIMES = 10;
  private static final Duration MIN_LIMIT = Duration.ofSeconds(5);

  /** What is done with a pair of JVMs. */
  @FunctionalInterface
  interface Work<T> {
    T of(Phases phases) throws HarnessException, InterruptedException;
  }

  /**
   * Starts a pair of JVMs, does something with it, and ends it.
   *
   * @param kind the way to communicate
   * @param sizeBytes the size of a message
   * @param work what to do, once the library is loaded; it is given its release
   * @throws io.talaria.bench.engine.LibraryMissingException if UCX cannot be used
   */
  <T> T with(BindingKind kind, int sizeBytes, Work<T> work)
      throws HarnessException, InterruptedException {
    Phases.Terms terms =
        new Phases.Terms(
            kind, SocketTransport.DIRECT, sizeBytes, 0, transports, spins, PHASE_LIMIT);
    try (WorkerGroup workerGroup = workerPool.workerGroup(2)) {
      workerGroup.start(SocketTransport.DIRECT);
      return work.of(new Phases(workerGroup, terms, false));
    }
  }

  /**
   * Runs a test of {@code ucx_perftest} for about half as long as a case is measured.
   *
   * @param port where its server listens
   * @param what the case
   * @param expected about what it will measure
   * @return nanoseconds, or operations a second
   * @throws HarnessException if it fails, or prints nothing in time
   */
  double perftest(int port, Case what, double expected)
      throws HarnessException, InterruptedException {
    double seconds = timing.seconds() / 2;
    UcxPerftest.Test test = what.test(what.iterations(expected, seconds), transports);
    Duration limit = Duration.ofMillis(Math.round(seconds * LIMIT_TIMES * 1_000));
    return what.figure(
        perftest.run(
            test, workerPool.host(), port, limit.compareTo(MIN_LIMIT) < 0 ? MIN_LIMIT : limit));
  }
}

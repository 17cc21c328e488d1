// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;

/** What a benchmark measures in one iteration by one implementation, in processes of its own. */
public interface BenchmarkCase {
  /** What starting a JVM takes, about. */
  double START_MS = 1_500;

  /** Returns its name to be displayed. */
  String label();

  /** Returns how long it takes, about, in milliseconds. */
  double expectedMs();

  /**
   * Returns how long it takes by one of the implementations.
   *
   * @param implementation the implementation
   * @return milliseconds, about; 0 if that one does not take part
   */
  default double expectedMs(Implementation implementation) {
    return expectedMs();
  }

  /**
   * Returns how many iterations it needs.
   *
   * @param wanted how many the user wants
   */
  default int iterations(int wanted) {
    return wanted;
  }

  /**
   * Measures once.
   *
   * @param iteration the iteration and its implementation, and where to report what was found
   * @throws HarnessException if it failed, or was not accelerated though it should be: the engine
   *     tells {@link #failed} then, as for any other exception
   * @throws InterruptedException if interrupted
   */
  void measure(Iteration iteration) throws HarnessException, InterruptedException;

  /**
   * Called when measuring has failed; the engine continues with the other cases. Notes that there
   * is no figure.
   *
   * @param iteration the iteration and its implementation
   * @param cause why; further lines give details
   */
  default void failed(Iteration iteration, String cause) {
    iteration.found().addMissing(iteration.missing(label(), cause));
  }
}

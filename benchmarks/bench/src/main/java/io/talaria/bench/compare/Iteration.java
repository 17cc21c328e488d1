// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.Progress;
import java.util.Locale;

/**
 * One of the iterations in which a benchmark measures a {@link BenchmarkCase}. Used by one thread.
 *
 * @param number which iteration, from 1
 * @param all how many there are
 * @param implementation the implementation that is measured
 * @param found where to add what was found
 * @param progress where to show what is done
 */
public record Iteration(
    int number, int all, Implementation implementation, Comparison found, Progress progress) {
  /**
   * Begins a step.
   *
   * @param what what is done now
   * @param expectedMs how long it will take, about
   */
  public void step(String what, double expectedMs) {
    String which = all == 1 ? "" : ", iteration " + number + " of " + all;
    progress.step(what + ", " + implementation.label() + which, expectedMs);
  }

  /**
   * Says how far the step is.
   *
   * @param what how far
   */
  public void say(String what) {
    progress.say(what);
  }

  /**
   * Returns that this iteration has no figure of its implementation.
   *
   * @param label what was measured
   * @param cause why
   */
  public Comparison.Missing missing(String label, String cause) {
    return missing(label, implementation, cause);
  }

  /**
   * Returns that this iteration has no figure of another implementation, which is measured beside
   * its own.
   *
   * @param label what was measured
   * @param whose whose figure it is
   * @param cause why
   */
  public Comparison.Missing missing(String label, Implementation whose, String cause) {
    return new Comparison.Missing(label, whose, number, cause);
  }

  /** Returns what tells the files of this iteration from those of others, {@code talaria-2}. */
  public String suffix() {
    return implementation.label().toLowerCase(Locale.ROOT) + (all == 1 ? "" : "-" + number);
  }
}

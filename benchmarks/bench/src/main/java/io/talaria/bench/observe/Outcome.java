// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.compare.Iteration;
import io.talaria.bench.result.Row;

/** Told what becomes of each case, by the thread that measures. */
interface Outcome {
  /** Returns whether to leave off after the case at hand. */
  boolean stopped();

  /**
   * A case begins.
   *
   * @param iteration of which iteration
   */
  void begins(Iteration iteration);

  /**
   * A case was measured.
   *
   * @param row what it gave
   * @param rested whether compilers rested when measuring began
   */
  void measured(Row row, boolean rested);

  /**
   * An implementation failed; the cases it had left in this iteration are given up.
   *
   * @param iteration the iteration and its implementation
   * @param label what it was to measure
   * @param message what it was doing, and why it failed
   */
  void failed(Iteration iteration, String label, String message);

  /** An implementation is done with its cases of an iteration, and nothing is being measured. */
  void pauses();
}

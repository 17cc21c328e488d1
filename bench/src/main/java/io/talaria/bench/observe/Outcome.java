// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.compare.Round;
import io.talaria.bench.plan.LinkContender;
import io.talaria.bench.result.Row;

/** Told what becomes of each case, by the thread that measures. */
interface Outcome {
  /** Returns whether to leave off after the case at hand. */
  boolean stopped();

  /**
   * A case begins.
   *
   * @param round of which round
   */
  void begins(Round round);

  /**
   * A case was measured.
   *
   * @param row what it gave
   * @param rested whether compilers rested when measuring began
   */
  void measured(Row row, boolean rested);

  /**
   * A contender failed; the cases it had left in this round are given up.
   *
   * @param contender the contender
   * @param what what it was doing
   * @param message why
   */
  void failed(LinkContender contender, String what, String message);
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Contender;
import io.talaria.bench.result.Row;

/** Told what becomes of each case, by the coordinator's thread. */
public interface Outcome {
  /**
   * A contender's case begins.
   *
   * @param contender the contender
   * @param measured the case
   * @param repetition which repetition, from 1
   */
  void begins(Contender contender, Case measured, int repetition);

  /**
   * A case was measured.
   *
   * @param row what it gave
   */
  void measured(Row row);

  /**
   * A contender failed; the cases it had left are given up.
   *
   * @param contender the contender
   * @param what what it was doing
   * @param message why
   */
  void failed(Contender contender, String what, String message);
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.cli.harness.HarnessException;

/** What a benchmark measures in one round on one road, in JVMs of its own. */
public interface Bout {
  /** What starting a JVM takes, about. */
  double START_MS = 1_500;

  /** Returns its name for people. */
  String label();

  /** Returns how long it takes, about, in milliseconds. */
  double expectedMs();

  /**
   * Measures once.
   *
   * @param round which round, on which road, and where to say what was found
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  void measure(Round round) throws HarnessException, InterruptedException;
}

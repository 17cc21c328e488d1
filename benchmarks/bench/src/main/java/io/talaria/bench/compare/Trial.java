// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import java.util.List;

/** One of the cases that a benchmark measures. */
public interface Trial {
  /** Returns its name for machines. */
  String id();

  /** Returns its name to be displayed. */
  String label();

  /** Returns how many connections there are. */
  int connections();

  /** Returns further options that both JVMs need, on either transport. */
  default List<String> javaOptions() {
    return List.of();
  }

  /**
   * Returns what both sides are told: a record.
   *
   * @param timing how long
   */
  Object job(Timing timing);
}

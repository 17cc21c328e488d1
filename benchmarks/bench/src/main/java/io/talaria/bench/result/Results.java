// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import java.util.List;

/**
 * What a run gave.
 *
 * @param name the run's name
 * @param conditions lines that say where and how it was measured
 * @param rows what was measured
 * @param failures lines that say what was not
 */
public record Results(String name, List<String> conditions, List<Row> rows, List<String> failures) {
  /** Copies the lists. */
  public Results {
    conditions = List.copyOf(conditions);
    rows = List.copyOf(rows);
    failures = List.copyOf(failures);
  }
}

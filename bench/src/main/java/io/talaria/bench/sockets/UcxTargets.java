// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Target;
import java.util.List;

/** What Talaria on UCX must reach, held against what UCX does in C over the same transports. */
final class UcxTargets {
  private static final double ROUND_TRIP_TIMES = 2.5;
  private static final double ONEWAY_TIMES = 0.5;

  private UcxTargets() {}

  /** Puts them in the place of those for shared memory. */
  static List<Row> of(List<Row> rows) {
    return rows.stream()
        .map(
            row ->
                new Row(
                    row.id(),
                    row.label(),
                    row.quantity(),
                    row.jdk(),
                    row.talaria(),
                    row.ucx(),
                    target(row)))
        .toList();
  }

  private static Target target(Row row) {
    double times = row.timesUcx();
    if (Double.isNaN(times)) {
      return null;
    }
    boolean blocking = row.id().equals(Pattern.BLOCKING.word() + "/" + Plan.SMALL + "B");
    if (blocking) {
      return new Target("≤ 2.5× UCX in C", times, times <= ROUND_TRIP_TIMES);
    }
    boolean large = row.id().equals(Pattern.ONEWAY.word() + "/" + Plan.LARGE + "B");
    return large && row.quantity() == Quantity.GIGABYTES_PER_SECOND
        ? new Target("≥ 0.5× UCX in C", times, times >= ONEWAY_TIMES)
        : null;
  }
}

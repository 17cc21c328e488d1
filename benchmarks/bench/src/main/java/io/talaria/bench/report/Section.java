// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Pattern;
import java.util.Comparator;

/**
 * A part of the report: what can be compared.
 *
 * @param pattern the pattern
 * @param processes how many processes take part
 * @param ratePerSecond how many operations are due a second; 0 in the closed loop
 */
record Section(Pattern pattern, int processes, int ratePerSecond) implements Comparable<Section> {
  private static final Comparator<Section> ORDER =
      Comparator.comparing(Section::pattern)
          .thenComparingInt(Section::processes)
          .thenComparingInt(Section::ratePerSecond);

  /** Finds the section to which a case belongs. */
  Section(Case measured) {
    this(measured.pattern(), measured.processes(), measured.ratePerSecond());
  }

  @Override
  public int compareTo(Section other) {
    return ORDER.compare(this, other);
  }

  String heading() {
    String name =
        switch (pattern) {
          case THROUGHPUT -> "Throughput, one way";
          case BIDIRECTIONAL -> "Throughput, both ways at once";
          case PINGPONG -> "Round trips";
          case ACCESS -> "Access to the peer's memory";
          case ALL_TO_ALL -> "All to all, " + processes + " processes";
        };
    return !pattern.latency()
        ? name
        : ratePerSecond == 0
            ? name + ", one after the other"
            : name + ", " + ratePerSecond + " a second due in each connection";
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Target;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.plan.Pattern;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;

/**
 * One thing to measure.
 *
 * @param operation the operation
 * @param kind what of it
 * @param sizeBytes of how many bytes
 * @param threads by how many threads, each with a connection
 */
record Case(Operation operation, Kind kind, int sizeBytes, int threads) {
  private static final int LARGE_BYTES = 4_096;

  /** The size whose latency has a target. */
  static final int JUDGED_BYTES = 16;

  private static final double MAX_TIMES = 1.5;
  private static final double MIN_TIMES = 0.8;

  /** Returns its name to be displayed. */
  String label() {
    return operation.word()
        + " "
        + Units.bytes(sizeBytes)
        + ", "
        + kind
        + (threads == 1 ? "" : ", " + threads + " threads");
  }

  /** Returns its name for machines. */
  String id() {
    return operation.word() + "/" + sizeBytes + "/" + kind + "/" + threads;
  }

  /** Returns how it is measured. */
  Pattern pattern() {
    return kind == Kind.THROUGHPUT
        ? Pattern.THROUGHPUT
        : operation.isAnswered() ? Pattern.PINGPONG : Pattern.ACCESS;
  }

  /**
   * Returns what Talaria has measured, in the unit of this case: nanoseconds, or a second.
   *
   * @param operations how many in each connection
   * @param elapsedNs how long all took
   */
  double figure(long operations, long elapsedNs) {
    return kind == Kind.THROUGHPUT
        ? threads * operations * 1e9 / elapsedNs
        : (double) elapsedNs / operations;
  }

  /** Returns whether {@code ucx_perftest} has a test that does the same. */
  boolean hasTest() {
    return !operation.test(kind).isEmpty();
  }

  /** Returns that test. */
  UcxPerftest.Test test(long iterations, String transports) {
    List<String> options = new ArrayList<>(operation.testOptions(kind));
    if (threads > 1) {
      options.addAll(List.of("-T", Integer.toString(threads), "-M", "multi"));
    }
    return new UcxPerftest.Test(operation.test(kind), sizeBytes, iterations, options, transports);
  }

  /** Returns what that test has measured, in the unit of this case: nanoseconds, or a second. */
  double figure(UcxPerftest.Figures figures) {
    if (kind == Kind.THROUGHPUT) {
      return figures.perSecond();
    }
    return operation.isAnswered() ? 2 * figures.averageNs() : figures.averageNs();
  }

  /** Returns how figures of this case are written. */
  Quantity quantity() {
    if (kind == Kind.LATENCY) {
      return Quantity.TIME;
    }
    return sizeBytes >= LARGE_BYTES ? Quantity.GIGABYTES_PER_SECOND : Quantity.PER_SECOND;
  }

  /** Returns a figure in the unit of {@link #quantity}. */
  double shown(double figure) {
    return quantity() == Quantity.GIGABYTES_PER_SECOND ? figure * sizeBytes / 1e9 : figure;
  }

  /** Returns about how long it takes, or how many a second, before anything is known. */
  double guess() {
    double ns = 300 + sizeBytes / 4.0;
    return kind == Kind.LATENCY ? ns : 1e9 / ns;
  }

  /** Returns what Talaria must reach, or null if nothing is asked. */
  Target target(double ratio) {
    if (threads > 1 || !operation.isJudged()) {
      return null;
    }
    if (kind == Kind.LATENCY) {
      return sizeBytes == JUDGED_BYTES ? Target.atMost(MAX_TIMES, ratio, Quantity.TIMES) : null;
    }
    return sizeBytes >= 8 && sizeBytes <= 1 << 20
        ? Target.atLeast(MIN_TIMES, ratio, Quantity.TIMES)
        : null;
  }

  /** Returns how many operations take about so long. */
  long iterations(double figure, double seconds) {
    double perSecond = kind == Kind.THROUGHPUT ? figure : 1e9 / figure;
    return Math.max(100, Math.round(perSecond * seconds / threads));
  }
}

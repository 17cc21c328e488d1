// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.RunPlan;

/** How long a plan takes, about, for progress bars. */
final class Schedule {
  private static final double JVM_MS = 750;
  private static final double SECOND_MS = 1_000;
  private static final double MINUTE_MS = 60_000;
  private static final double HOUR_MINUTES = 60;

  private Schedule() {}

  static double caseMs(RunPlan plan) {
    return (plan.seconds() + 2 * plan.warmUpSeconds()) * SECOND_MS;
  }

  /** Returns the whole in words. */
  private static String total(RunPlan plan) {
    double minutes = totalMs(plan) / MINUTE_MS;
    if (minutes < 2) {
      return Math.max(1, Math.round(minutes * MINUTE_MS / SECOND_MS)) + " s";
    }
    return minutes < HOUR_MINUTES * 2
        ? Math.round(minutes) + " min"
        : Math.round(minutes / HOUR_MINUTES) + " h";
  }

  /** Returns what is measured and how long it takes, in words. */
  static String describe(RunPlan plan) {
    return counted(plan.count(), "case")
        + ", "
        + counted(plan.repetitions(), "repetition")
        + ", about "
        + total(plan);
  }

  private static String counted(int count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  static double totalMs(RunPlan plan) {
    return plan.repetitions() * plan.heats().stream().mapToDouble(heat -> heatMs(plan, heat)).sum();
  }

  /** Returns how long one iteration of a heat takes all implementations. */
  static double heatMs(RunPlan plan, RunPlan.Heat heat) {
    double all = 0;
    for (LinkImplementation implementation : plan.implementations()) {
      int cases = plan.cases(implementation, heat).size();
      all += cases == 0 ? 0 : cases * caseMs(plan) + heat.processes() * JVM_MS;
    }
    return all;
  }
}

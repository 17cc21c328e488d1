// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory;

import io.talaria.observatory.plan.RunPlan;

/** How long a plan takes, about, for progress bars. */
final class Schedule {
  private static final double JVM_MS = 1_500;
  private static final double SECOND_MS = 1_000;

  private Schedule() {}

  static double caseMs(RunPlan plan) {
    return (plan.seconds() + 2 * plan.warmUpSeconds()) * SECOND_MS;
  }

  static double totalMs(RunPlan plan) {
    int heats =
        plan.contenders().stream().mapToInt(contender -> plan.heats(contender).size()).sum();
    return plan.repetitions() * (plan.count() * caseMs(plan) + heats * JVM_MS);
  }
}

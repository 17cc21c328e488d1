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
    return plan.repetitions() * (plan.count() * caseMs(plan) + plan.contenders().size() * JVM_MS);
  }
}

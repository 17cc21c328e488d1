// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import java.util.Locale;
import java.util.Map;

/** The two phases of a benchmark. */
public enum Phase {
  /** Puts the records into an empty store. */
  LOAD,
  /** Does what the workload says. */
  RUN;

  /** Returns how many operations it has. */
  long operations(Map<String, String> workload) {
    return Long.parseLong(
        workload.get(this == LOAD ? WorkloadFile.RECORDS : WorkloadFile.OPERATIONS));
  }

  /** Returns the name to be displayed. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}

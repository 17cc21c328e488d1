// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import java.util.Locale;

/** The two phases of a benchmark. */
public enum Phase {
  /** Puts the records into an empty store. */
  LOAD,
  /** Does what the workload says. */
  RUN;

  /** Returns the name for people. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}

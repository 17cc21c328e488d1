// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.plan;

import java.util.Locale;

/** Who sends what to whom, and when. */
public enum Pattern {
  /** One side sends or writes as fast as it can, the other receives. */
  THROUGHPUT(false),
  /** Both sides send and receive at once. */
  BIDIRECTIONAL(false),
  /** A message there, then one back. */
  PINGPONG(true),
  /** One side accesses the other's memory and waits until that is done. */
  ACCESS(true);

  private final boolean latency;

  Pattern(boolean latency) {
    this.latency = latency;
  }

  /** Returns the name in files and tables. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns whether each operation is timed. */
  public boolean latency() {
    return latency;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Which process sends what to which other one, and when. */
public enum Pattern {
  /** One side sends or writes as fast as it can, the other receives. */
  THROUGHPUT(false, 1),
  /** Both sides send and receive at once. */
  BIDIRECTIONAL(false, 2),
  /** A message there, then one back. */
  PINGPONG(true, 2),
  /** One side accesses the other's memory and waits until that is done. */
  ACCESS(true, 1),
  /** Each of several processes sends to all others and receives from them at once. */
  ALL_TO_ALL(false, 2);

  private final boolean latency;
  private final int messages;

  Pattern(boolean latency, int messages) {
    this.latency = latency;
    this.messages = messages;
  }

  /** Returns the name in files and tables. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns whether each operation is timed. */
  public boolean latency() {
    return latency;
  }

  /** Returns how many messages an operation is, both ways. */
  public int messages() {
    return messages;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

import java.nio.ByteBuffer;

/**
 * What is counted of a selector: its place in the selector's record of the counters file, and the
 * sum of closed selectors in the header.
 */
public enum SelectorCounter {
  /** Selects that returned to the program. */
  SELECTS(128, ProcessCounter.CLOSED_SELECTS),
  /** Looks into the JDK's selector. */
  INNER_SELECTS(136, ProcessCounter.CLOSED_INNER_SELECTS),
  /** Sleeps that ended. */
  WAKE_UPS(152, ProcessCounter.CLOSED_WAKE_UPS);

  private final int place;
  private final ProcessCounter closedTotal;

  SelectorCounter(int place, ProcessCounter closedTotal) {
    this.place = place;
    this.closedTotal = closedTotal;
  }

  /** Where it is in a record, in bytes. */
  public int place() {
    return place;
  }

  /** What it has counted in a record. */
  public long in(ByteBuffer record) {
    return record.getLong(place);
  }

  /** Its sum of closed selectors. */
  public ProcessCounter closedTotal() {
    return closedTotal;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static io.talaria.nio.counters.file.CountersLayout.LONG;

import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.counters.file.SelectorCounter;
import java.nio.ByteBuffer;

/**
 * What one selector has done. {@link #selected}, {@link #innerSelected} and {@link #wokenUp} may be
 * called by one thread at a time, the one that selects; they store one number and neither block nor
 * allocate. The selector owns its counters and closes them once.
 */
public final class SelectorCounters extends CounterRecord {
  private long selects;
  private long innerSelects;
  private long wakeUps;

  SelectorCounters(ProcessCounters owner, long id, long openedAtMs) {
    super(owner, id, openedAtMs);
  }

  /** Counts a select that returned to the program. */
  public void selected() {
    long total = selects + 1;
    selects = total;
    store(SelectorCounter.SELECTS.place(), total);
  }

  /** Counts a look into the JDK's selector, sleeping or not. */
  public void innerSelected() {
    long total = innerSelects + 1;
    innerSelects = total;
    store(SelectorCounter.INNER_SELECTS.place(), total);
  }

  /** Counts a sleep that ended. */
  public void wokenUp() {
    long total = wakeUps + 1;
    wakeUps = total;
    store(SelectorCounter.WAKE_UPS.place(), total);
  }

  /** Ends the record: its counts join the process's totals. Closing again changes nothing. */
  public void close() {
    owner.closeSelector(this);
  }

  long selects() {
    return selects;
  }

  long innerSelects() {
    return innerSelects;
  }

  long wakeUps() {
    return wakeUps;
  }

  @Override
  void writeIdentity(ByteBuffer to) {
    CountersLayout.clearDescription(to);
    to.put(CountersLayout.R_ROLE, (byte) CountersLayout.ROLE_SELECTOR);
  }

  @Override
  void writeDescription(ByteBuffer to) {
    // Nothing of it changes.
  }

  @Override
  void writeCounts(ByteBuffer to) {
    LONG.setOpaque(to, SelectorCounter.SELECTS.place(), selects);
    LONG.setOpaque(to, SelectorCounter.INNER_SELECTS.place(), innerSelects);
    LONG.setOpaque(to, SelectorCounter.WAKE_UPS.place(), wakeUps);
  }
}

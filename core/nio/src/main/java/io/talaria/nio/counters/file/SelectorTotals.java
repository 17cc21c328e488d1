// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

/**
 * What the selectors of a process have done.
 *
 * @param open selectors open now
 * @param selects selects that returned to the program
 * @param innerSelects looks into the JDK's selector
 * @param wakeUps sleeps that ended
 */
public record SelectorTotals(long open, long selects, long innerSelects, long wakeUps) {
  public static final SelectorTotals NONE = new SelectorTotals(0, 0, 0, 0);

  public SelectorTotals plus(long moreSelects, long moreInnerSelects, long moreWakeUps) {
    return new SelectorTotals(
        open + 1, selects + moreSelects, innerSelects + moreInnerSelects, wakeUps + moreWakeUps);
  }

  public SelectorTotals withClosed(long[] process) {
    return new SelectorTotals(
        open,
        selects + ProcessCounter.CLOSED_SELECTS.in(process),
        innerSelects + ProcessCounter.CLOSED_INNER_SELECTS.in(process),
        wakeUps + ProcessCounter.CLOSED_WAKE_UPS.in(process));
  }
}

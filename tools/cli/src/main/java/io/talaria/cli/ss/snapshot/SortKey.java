// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss.snapshot;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongBiFunction;

/** By what the lines of the table are sorted: the most first, else by process and age. */
public enum SortKey {
  /** By process id, then oldest first: as the counters files have them. */
  PROCESS((line, rates) -> 0),
  /** Bytes in both directions so far. */
  BYTES((line, rates) -> line.connection().inBytes() + line.connection().outBytes()),
  /** Bytes in both directions a second. */
  RATE((line, rates) -> rates == null ? 0 : rates.in(line) + rates.out(line)),
  /** Writes that found no space, a second and then so far. */
  STALLS(
      (line, rates) ->
          line.connection().stalls() + (rates == null ? 0 : rates.stalls(line) << Integer.SIZE)),
  /** Wakeups sent and received so far. */
  WAKEUPS((line, rates) -> line.connection().wakeupsSent() + line.connection().wakeupsReceived()),
  /** The oldest first. */
  AGE((line, rates) -> -line.connection().openedAtMs());

  @SuppressWarnings("ImmutableEnumChecker") // Without state.
  private final ToLongBiFunction<Snapshot.Line, Rates> weight;

  SortKey(ToLongBiFunction<Snapshot.Line, Rates> weight) {
    this.weight = weight;
  }

  /** The name of the option's value. */
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Sorts lines; equal ones stay in their order.
   *
   * @param rates what happened lately, or null
   */
  public List<Snapshot.Line> sorted(List<Snapshot.Line> lines, Rates rates) {
    return lines.stream()
        .sorted(
            Comparator.comparingLong((Snapshot.Line line) -> weight.applyAsLong(line, rates))
                .reversed())
        .toList();
  }
}

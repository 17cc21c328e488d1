// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/** What a port's counters counted between two readings, in a second. Immutable. */
public final class Rates {
  private static final double NS_PER_S = 1e9;

  private final Reading later;
  private final Change[] changes;
  private final double[] perSecond;
  private final double[] amounts;

  private Rates(Reading later) {
    this.later = later;
    int size = later.counters().size();
    changes = new Change[size];
    perSecond = new double[size];
    amounts = new double[size];
  }

  /**
   * Compares two readings of a port. A counter whose source was not read again in between keeps the
   * rate that it had.
   *
   * @param earlier the one before
   * @param later the one after
   * @param previous what {@code earlier} gave, or null
   * @return the rates at {@code later}
   */
  public static Rates between(Reading earlier, Reading later, Rates previous) {
    Rates rates = new Rates(later);
    boolean same = earlier.counters().equals(later.counters());
    for (int i = 0; i < later.counters().size(); i++) {
      int j = same ? i : earlier.counters().indexOf(later.counters().get(i));
      rates.compare(i, earlier, j, same ? previous : null);
    }
    return rates;
  }

  /**
   * No rates yet.
   *
   * @param first a port's first reading
   * @return rates that are all unknown
   */
  public static Rates none(Reading first) {
    Rates rates = new Rates(first);
    java.util.Arrays.fill(rates.changes, Change.UNKNOWN);
    return rates;
  }

  private void compare(int i, Reading earlier, int j, Rates previous) {
    changes[i] = Change.UNKNOWN;
    if (j < 0 || !earlier.known(j) || !later.known(i)) {
      return;
    }
    long ns = later.atNs(i) - earlier.atNs(j);
    if (ns <= 0) {
      if (previous != null) {
        changes[i] = previous.changes[i];
        perSecond[i] = previous.perSecond[i];
      }
      return;
    }
    Counter counter = later.counters().get(i);
    Difference difference = Difference.of(counter, earlier.value(j), later.value(i));
    changes[i] = difference.change();
    amounts[i] = Reading.unsigned(difference.amount()) * counter.factor();
    perSecond[i] = amounts[i] * NS_PER_S / ns;
  }

  /**
   * The reading at the end of the interval.
   *
   * @return the later reading
   */
  public Reading reading() {
    return later;
  }

  /**
   * What happened to a counter.
   *
   * @param index its position in the reading
   * @return what happened
   */
  public Change change(int index) {
    return changes[index];
  }

  /**
   * How fast a counter counts.
   *
   * @param index its position in the reading
   * @return units of the counter in a second, such as bytes; negative if that is not known
   */
  public double perSecond(int index) {
    return changes[index] == Change.COUNTED ? perSecond[index] : -1;
  }

  /**
   * How much a counter counted in the interval.
   *
   * @param index its position in the reading
   * @return units of the counter, such as bytes; 0 if that is not known
   */
  public double amount(int index) {
    return amounts[index];
  }

  /**
   * How fast the port sends or receives.
   *
   * @param kind {@link CounterKind#DATA} for bytes, {@link CounterKind#PACKETS} for packets
   * @param traffic sent or received
   * @return units in a second; negative if that is not known
   */
  public double perSecond(CounterKind kind, Traffic traffic) {
    int index = later.indexOf(kind, traffic);
    return index < 0 ? -1 : perSecond(index);
  }

  /**
   * How many of a kind came in the interval, parts of others left out.
   *
   * @param kind the kind
   * @return their number; what is not known counts as 0
   */
  public double sum(CounterKind kind) {
    double sum = 0;
    for (int i = 0; i < changes.length; i++) {
      Counter counter = later.counters().get(i);
      if (counter.kind() == kind && !counter.part()) {
        sum += amounts[i];
      }
    }
    return sum;
  }
}

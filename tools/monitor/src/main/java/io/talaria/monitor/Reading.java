// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.math.BigInteger;
import java.util.List;

/**
 * The values of a port's counters at one time. Immutable; values are unsigned numbers of 64 bits.
 */
public final class Reading {
  private static final double TWO_TO_63 = 0x1p63;

  private final Port port;
  private final List<Counter> counters;
  private final long[] values;
  private final boolean[] known;
  private final long[] atNs;

  /**
   * Creates a reading, which takes the arrays over.
   *
   * @param port whose it is
   * @param counters what was read
   * @param values a value for each counter
   * @param known whether the counter could be read
   * @param atNs when, by {@link System#nanoTime}
   */
  public Reading(Port port, List<Counter> counters, long[] values, boolean[] known, long[] atNs) {
    int size = counters.size();
    if (values.length != size || known.length != size || atNs.length != size) {
      throw new IllegalArgumentException(
          size
              + " counters with "
              + values.length
              + " values, "
              + known.length
              + " marks and "
              + atNs.length
              + " times");
    }
    this.port = port;
    this.counters = counters;
    this.values = values;
    this.known = known;
    this.atNs = atNs;
  }

  /**
   * Whose reading it is.
   *
   * @return the port as it was found last
   */
  public Port port() {
    return port;
  }

  /**
   * What was read.
   *
   * @return the counters; their positions are the indices of the other methods
   */
  public List<Counter> counters() {
    return counters;
  }

  /**
   * Whether a counter could be read.
   *
   * @param index its position
   * @return whether it has a value
   */
  public boolean known(int index) {
    return known[index];
  }

  /**
   * The value of a counter as its source gives it.
   *
   * @param index its position
   * @return an unsigned number; 0 if it is not known
   */
  public long value(int index) {
    return values[index];
  }

  /**
   * When a counter was read; a source that the kernel refreshes seldom is read as seldom.
   *
   * @param index its position
   * @return a time of {@link System#nanoTime}
   */
  public long atNs(int index) {
    return atNs[index];
  }

  /**
   * The value of a counter in its unit: bytes, not words.
   *
   * @param index its position
   * @return the value times the counter's factor
   */
  public BigInteger total(int index) {
    return new BigInteger(Long.toUnsignedString(values[index]))
        .multiply(BigInteger.valueOf(counters.get(index).factor()));
  }

  /**
   * The value of a counter in its unit, to 15 digits.
   *
   * @param index its position
   * @return the value times the counter's factor
   */
  public double amount(int index) {
    return unsigned(values[index]) * counters.get(index).factor();
  }

  /**
   * Whether a counter certainly stands at its maximum.
   *
   * @param index its position
   * @return whether it does not count until it is reset
   */
  public boolean stuck(int index) {
    return known[index] && Difference.stuck(counters.get(index), values[index]);
  }

  /**
   * Where the counter of that name is.
   *
   * @param name its name at its source
   * @return its position, or -1
   */
  public int indexOf(String name) {
    for (int i = 0; i < counters.size(); i++) {
      if (counters.get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  /**
   * Where the counter is that has all the port sent or received. The wide one of several; one only,
   * so that nothing is counted twice.
   *
   * @param kind {@link CounterKind#DATA} or {@link CounterKind#PACKETS}
   * @param traffic sent or received
   * @return its position, or -1 if the port does not count that, or it could not be read
   */
  public int indexOf(CounterKind kind, Traffic traffic) {
    int best = -1;
    for (int i = 0; i < counters.size(); i++) {
      Counter counter = counters.get(i);
      if (counter.kind() == kind
          && counter.traffic() == traffic
          && known[i]
          && (best < 0 || rank(counter.source()) < rank(counters.get(best).source()))) {
        best = i;
      }
    }
    return best;
  }

  private static int rank(CounterSource source) {
    return switch (source) {
      case COUNTERS_EXT, PMA_EXTENDED -> 0;
      case COUNTERS, PMA, NET -> 1;
      case HW_COUNTERS -> 2;
      case DEVICE -> 3;
    };
  }

  /**
   * What all counters of a kind have together, parts of others left out.
   *
   * @param kind the kind
   * @return the sum, or -1 if the port has none of the kind
   */
  public double sum(CounterKind kind) {
    double sum = -1;
    for (int i = 0; i < counters.size(); i++) {
      Counter counter = counters.get(i);
      if (counter.kind() == kind && !counter.part() && known[i]) {
        sum = Math.max(sum, 0) + amount(i);
      }
    }
    return sum;
  }

  /** An unsigned number as a double. */
  static double unsigned(long value) {
    return value >= 0 ? value : (value & Long.MAX_VALUE) + TWO_TO_63;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.time.Duration;

/**
 * How much longer than on a usual machine JVMs may take to start: the property {@value #PROPERTY},
 * a whole number from 1, which is the default, to 100. An emulated machine needs more than one.
 */
public final class Patience {
  /** The property. */
  public static final String PROPERTY = "talaria.bench.patience";

  private static final int MAX_FACTOR = 100;

  private Patience() {}

  /**
   * A limit with patience.
   *
   * @param usual what it is on a usual machine
   * @return so many times as long as the property says
   * @throws IllegalArgumentException if that is no whole number from 1 to 100
   */
  public static Duration times(Duration usual) {
    return usual.multipliedBy(parse(System.getProperty(PROPERTY, "1")));
  }

  static int parse(String text) {
    try {
      int value = Integer.parseInt(text);
      if (value >= 1 && value <= MAX_FACTOR) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        "the property " + PROPERTY + " is " + text + ", but must be from 1 to " + MAX_FACTOR);
  }
}

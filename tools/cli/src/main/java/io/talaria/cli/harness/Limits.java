// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.text.NumberFormat;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Checks the numbers of options. */
public final class Limits {
  private Limits() {}

  /**
   * Refuses a number that is out of range.
   *
   * @param command whose option it is
   * @param option the option's name
   * @param value what the user has given
   * @param least the smallest number allowed
   * @param most the largest number allowed
   * @throws ParameterException if it is out of range
   */
  public static void check(
      CommandLine command, String option, Number value, double least, double most) {
    double number = value.doubleValue();
    if (!(number >= least && number <= most)) {
      NumberFormat format = NumberFormat.getInstance(Locale.ROOT);
      throw new ParameterException(
          command,
          option
              + " must be from "
              + format.format(least)
              + " to "
              + format.format(most)
              + ", not "
              + value);
    }
  }
}

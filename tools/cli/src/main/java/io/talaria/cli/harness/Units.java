// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.util.Locale;

/** Figures to be displayed: three significant digits and a unit. */
public final class Units {
  private Units() {}

  /**
   * Returns a figure with three significant digits, without exponent.
   *
   * @param value the figure
   */
  public static String figure(double value) {
    double size = Math.abs(value);
    if (size == 0) {
      return "0";
    }
    if (size >= 99.95) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    if (size >= 9.995) {
      return String.format(Locale.ROOT, "%.1f", value);
    }
    if (size >= 0.0995) {
      return String.format(Locale.ROOT, "%.2f", value);
    }
    return String.format(Locale.ROOT, "%.3f", value);
  }

  /**
   * Returns a time with the unit that fits.
   *
   * @param ns nanoseconds
   */
  public static String time(double ns) {
    if (ns >= 999_500) {
      return ns >= 999_500_000 ? figure(ns / 1e9) + " s" : figure(ns / 1e6) + " ms";
    }
    return ns >= 99.5 ? figure(ns / 1e3) + " µs" : figure(ns) + " ns";
  }

  /**
   * Returns a number per second with the unit that fits.
   *
   * @param perSecond the rate
   */
  public static String rate(double perSecond) {
    if (perSecond >= 999_500) {
      return figure(perSecond / 1e6) + " M/s";
    }
    return perSecond >= 999.5 ? figure(perSecond / 1e3) + " k/s" : figure(perSecond) + " /s";
  }

  /**
   * Returns a number of bytes in binary units; exact below one KiB.
   *
   * @param bytes the number
   */
  public static String bytes(double bytes) {
    if (bytes >= 1 << 20) {
      return trim(bytes / (1 << 20)) + " MiB";
    }
    return bytes >= 1 << 10 ? trim(bytes / (1 << 10)) + " KiB" : trim(bytes) + " B";
  }

  /**
   * Returns a ratio, {@code 24.3×}.
   *
   * @param ratio the ratio
   */
  public static String times(double ratio) {
    return figure(ratio) + "×";
  }

  private static String trim(double value) {
    return value == Math.rint(value) ? String.format(Locale.ROOT, "%,.0f", value) : figure(value);
  }
}

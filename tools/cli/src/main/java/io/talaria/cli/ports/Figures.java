// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.cli.ss.Show;
import java.util.Locale;

/** Figures of ports to be displayed. */
public final class Figures {
  private static final String[] BIT_UNITS = {"bit", "kbit", "Mbit", "Gbit", "Tbit"};
  private static final String[] COUNT_UNITS = {"", "k", "M", "G", "T", "P", "E"};
  private static final double THOUSAND = 1000;
  private static final int BITS_PER_BYTE = 8;

  private Figures() {}

  /** A number of bytes; {@code -} if it is negative, that is, not known. */
  public static String bytes(double bytes) {
    return bytes < 0 ? "-" : Show.bytes((long) Math.min(bytes, Long.MAX_VALUE));
  }

  /** Bytes a second, as bytes in binary units or as bits in decimal ones. */
  public static String rate(double bytesPerSecond, boolean bits) {
    if (bytesPerSecond < 0) {
      return "-";
    }
    return bits ? scaled(bytesPerSecond * BITS_PER_BYTE, BIT_UNITS) : bytes(bytesPerSecond);
  }

  /** A number of anything, in thousands; {@code -} if it is negative, that is, not known. */
  public static String count(double number) {
    return number < 0 ? "-" : scaled(number, COUNT_UNITS).stripTrailing();
  }

  private static String scaled(double value, String[] units) {
    double rest = value;
    int unit = 0;
    while (rest >= 999.5 && unit < units.length - 1) {
      rest /= THOUSAND;
      unit++;
    }
    String form = unit == 0 || rest >= 99.95 ? "%.0f %s" : "%.1f %s";
    return String.format(Locale.ROOT, form, rest, units[unit]);
  }
}

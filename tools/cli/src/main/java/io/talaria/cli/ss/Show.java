// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;

/** Figures and addresses as tables for the user show them. */
public final class Show {
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  private static final long KIB = 1024;
  private static final int SECONDS_PER_MINUTE = 60;
  private static final int SECONDS_PER_HOUR = 3600;
  private static final int SECONDS_PER_DAY = 86_400;

  private Show() {}

  /** A number of bytes in binary units, exact below one KiB: {@code 17 B}, {@code 1.5 GiB}. */
  public static String bytes(long bytes) {
    if (bytes < KIB) {
      return bytes + " B";
    }
    double value = bytes;
    int unit = 0;
    while (value >= KIB && unit < UNITS.length - 1) {
      value /= KIB;
      unit++;
    }
    // 1023.96 KiB would be printed as 1024.0 KiB.
    if (value >= KIB - 0.05 && unit < UNITS.length - 1) {
      value /= KIB;
      unit++;
    }
    String form = value == Math.rint(value) ? "%.0f %s" : "%.1f %s";
    return String.format(Locale.ROOT, form, value, UNITS[unit]);
  }

  /** A span of time in its two largest units: {@code 8s}, {@code 3m05s}, {@code 4d03h}. */
  static String age(long ms) {
    long seconds = Math.max(0, ms) / 1000;
    if (seconds < SECONDS_PER_MINUTE) {
      return seconds + "s";
    }
    if (seconds < SECONDS_PER_HOUR) {
      return pair(seconds, SECONDS_PER_MINUTE, 'm', 1, 's');
    }
    if (seconds < SECONDS_PER_DAY) {
      return pair(seconds, SECONDS_PER_HOUR, 'h', SECONDS_PER_MINUTE, 'm');
    }
    return pair(seconds, SECONDS_PER_DAY, 'd', SECONDS_PER_HOUR, 'h');
  }

  private static String pair(long seconds, int large, char largeUnit, int small, char smallUnit) {
    return String.format(
        Locale.ROOT, "%d%c%02d%c", seconds / large, largeUnit, seconds % large / small, smallUnit);
  }

  /**
   * An address with its port: {@code 127.0.0.1:80}, {@code [::1]:80}, {@code *:80}, or {@code -}.
   */
  public static String address(InetSocketAddress address) {
    if (address == null) {
      return "-";
    }
    InetAddress host = address.getAddress();
    if (host.isAnyLocalAddress()) {
      return "*:" + address.getPort();
    }
    String text = host.getHostAddress();
    return (text.contains(":") ? "[" + shortened(text) + "]" : text) + ":" + address.getPort();
  }

  /** Puts {@code ::} in place of the first longest run of zero groups, as RFC 5952 wants it. */
  private static String shortened(String sixText) {
    int percent = sixText.indexOf('%');
    String[] groups = (percent < 0 ? sixText : sixText.substring(0, percent)).split(":", -1);
    String zone = percent < 0 ? "" : sixText.substring(percent);
    int bestStart = -1;
    int bestLength = 1;
    for (int i = 0; i < groups.length; i++) {
      int end = i;
      while (end < groups.length && groups[end].equals("0")) {
        end++;
      }
      if (end - i > bestLength) {
        bestStart = i;
        bestLength = end - i;
      }
    }
    if (bestStart < 0) {
      return sixText;
    }
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < groups.length; i++) {
      if (i == bestStart) {
        out.append("::");
        i += bestLength - 1;
      } else {
        if (!out.isEmpty() && out.charAt(out.length() - 1) != ':') {
          out.append(':');
        }
        out.append(groups[i]);
      }
    }
    return out + zone;
  }

  /** A text cut to a number of characters. */
  static String cut(String text, int chars) {
    return text.codePointCount(0, text.length()) <= chars
        ? text
        : text.substring(0, text.offsetByCodePoints(0, chars - 1)) + "…";
  }
}

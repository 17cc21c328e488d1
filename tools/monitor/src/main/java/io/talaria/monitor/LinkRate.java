// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How fast a link is.
 *
 * @param bitsPerSecond the rate in one direction, as the kernel or the port tells it; 0 if unknown
 * @param lanes the width: how many lanes; 0 if unknown
 * @param text as it is displayed, such as {@code 100 Gb/s 4X EDR}; empty if unknown
 */
public record LinkRate(long bitsPerSecond, int lanes, String text) {
  /** Nothing is known. */
  public static final LinkRate UNKNOWN = new LinkRate(0, 0, "");

  private static final Pattern RDMA =
      Pattern.compile("(\\d{1,6}(?:\\.\\d{1,3})?) Gb/sec(?: \\((\\d{1,2})X ?([A-Z0-9]*)\\))?");
  private static final double GIGA = 1e9;
  private static final long MEGA = 1_000_000;

  /**
   * The rate that the kernel writes for an RDMA port.
   *
   * @param text the file's content, such as {@code 100 Gb/sec (4X EDR)}
   * @return the rate, or {@link #UNKNOWN}
   */
  static LinkRate ofRdma(String text) {
    Matcher matcher = RDMA.matcher(text);
    if (!matcher.matches()) {
      return UNKNOWN;
    }
    String lanes = matcher.group(2);
    String words = matcher.group(1) + " Gb/s";
    if (lanes != null) {
      words += (" " + lanes + "X " + matcher.group(3)).stripTrailing();
    }
    return new LinkRate(
        Math.round(Double.parseDouble(matcher.group(1)) * GIGA),
        lanes == null ? 0 : Integer.parseInt(lanes),
        words);
  }

  /**
   * The rate of a network interface.
   *
   * @param megabits megabits a second; less than 1 if unknown
   * @return the rate, or {@link #UNKNOWN}
   */
  static LinkRate ofInterface(long megabits) {
    if (megabits < 1 || megabits > Integer.MAX_VALUE) { // -1 as unsigned is "unknown", too
      return UNKNOWN;
    }
    String words =
        megabits >= 1000
            ? (megabits % 1000 == 0 ? Long.toString(megabits / 1000) : megabits / 1000.0 + "")
                + " Gb/s"
            : megabits + " Mb/s";
    return new LinkRate(megabits * MEGA, 0, words);
  }
}

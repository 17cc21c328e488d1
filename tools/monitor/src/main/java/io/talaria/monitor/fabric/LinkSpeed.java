// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.LinkRate;

/** The rate of an InfiniBand link from the bits of its PortInfo, as the kernel calls it. */
final class LinkSpeed {
  private static final String[] NAMES = {"SDR", "DDR", "QDR"};
  private static final double[] GIGABITS = {2.5, 5, 10};
  private static final String[] EXTENDED_NAMES = {"FDR", "EDR", "HDR", "NDR", "XDR"};
  private static final double[] EXTENDED_GIGABITS = {14, 25, 50, 100, 200};
  private static final double GIGA = 1e9;

  private LinkSpeed() {}

  /**
   * The rate.
   *
   * @param width LinkWidthActive: 1, 2, 4, 8 or 16 for 1, 4, 8, 12 or 2 lanes
   * @param speed LinkSpeedActive: 1, 2 or 4
   * @param extended LinkSpeedExtActive: 1, 2, 4, 8 or 16, and 0 if the other one counts
   */
  static LinkRate of(int width, int speed, int extended) {
    int lanes =
        switch (width) {
          case 1 -> 1;
          case 2 -> 4;
          case 4 -> 8;
          case 8 -> 12;
          case 16 -> 2;
          default -> 0;
        };
    String name = name(EXTENDED_NAMES, extended);
    double gigabits = gigabits(EXTENDED_GIGABITS, extended);
    if (gigabits == 0) {
      name = name(NAMES, speed);
      gigabits = gigabits(GIGABITS, speed);
    }
    if (lanes == 0 || gigabits == 0) {
      return LinkRate.UNKNOWN;
    }
    double all = gigabits * lanes;
    String figure = all == Math.rint(all) ? Long.toString((long) all) : Double.toString(all);
    return new LinkRate(Math.round(all * GIGA), lanes, figure + " Gb/s " + lanes + "X " + name);
  }

  private static int place(int bit, int length) {
    int place = Integer.numberOfTrailingZeros(bit);
    return Integer.bitCount(bit) == 1 && place < length ? place : -1;
  }

  private static String name(String[] names, int bit) {
    int place = place(bit, names.length);
    return place < 0 ? "" : names[place];
  }

  private static double gigabits(double[] values, int bit) {
    int place = place(bit, values.length);
    return place < 0 ? 0 : values[place];
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import java.util.List;

/**
 * A line in a picture.
 *
 * @param name its name in the legend; empty if it is not named there
 * @param colour which of the colours
 * @param dashed whether it is dashed
 * @param right whether it belongs to the axis on the right
 * @param marked whether its points are marked
 * @param points from left to right
 */
record Series(
    String name, int colour, boolean dashed, boolean right, boolean marked, List<Point> points) {
  Series {
    points = List.copyOf(points);
  }

  /**
   * A point.
   *
   * @param x where
   * @param y how high
   * @param deviation what it varies by; 0: no bar is drawn
   */
  record Point(double x, double y, double deviation) {}
}

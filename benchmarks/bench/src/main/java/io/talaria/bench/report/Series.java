// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import java.util.List;

/**
 * A line in a picture.
 *
 * @param name its name in the legend
 * @param hue which of the colours, and of the marks
 * @param stroke how it is drawn
 * @param marked whether its points are marked
 * @param points from left to right
 */
record Series(String name, int hue, Stroke stroke, boolean marked, List<Point> points) {
  Series {
    points = List.copyOf(points);
  }

  /** Line styles, told apart without colours. */
  enum Stroke {
    SOLID(""),
    DASHED("7 4"),
    DOTTED("2 3");

    private final String dashes;

    Stroke(String dashes) {
      this.dashes = dashes;
    }

    /** Returns it as attributes of SVG. */
    String attribute() {
      return dashes.isEmpty() ? "" : " stroke-dasharray=\"" + dashes + "\"";
    }
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

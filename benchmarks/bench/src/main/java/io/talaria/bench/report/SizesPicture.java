// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A picture that stands alone: a figure by the size of what was sent, lines of several groups. */
public final class SizesPicture {
  /**
   * A line.
   *
   * @param name its name in the legend
   * @param group lines of one group, up to three, have one colour
   * @param within which of its group it is, from 0: the style of the line
   * @param values a figure for each size, in bytes
   */
  public record Line(String name, int group, int within, Map<Integer, Double> values) {
    /** Copies the values. */
    public Line {
      values = Map.copyOf(values);
    }
  }

  private SizesPicture() {}

  /**
   * Draws it.
   *
   * @param title what is shown
   * @param quantity what kind of figure it is
   * @param lines the lines
   * @return the picture as SVG
   */
  public static String svg(String title, Quantity quantity, List<Line> lines) {
    List<Series> all = new ArrayList<>();
    for (Line line : lines) {
      List<Series.Point> points = new ArrayList<>();
      new TreeMap<>(line.values())
          .forEach((size, value) -> points.add(new Series.Point(size, value, 0)));
      Series.Stroke[] strokes = Series.Stroke.values();
      Series.Stroke stroke = strokes[line.within() % strokes.length];
      all.add(new Series(line.name(), line.group(), stroke, true, points));
    }
    double[] sizes =
        lines.stream()
            .flatMap(line -> line.values().keySet().stream())
            .mapToDouble(Integer::doubleValue)
            .toArray();
    Axis x = Axis.around("size of a message", 2, sizes, Units::bytes);
    Axis y = Pictures.values(title, all, quantity::format);
    return Picture.withStyle(Picture.ofAPage(title, x, y, all).svg());
  }
}

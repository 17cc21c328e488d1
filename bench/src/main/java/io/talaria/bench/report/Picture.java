// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import java.util.List;

/** Draws lines over logarithmic axes as SVG, to stand inside a page. */
final class Picture {
  private static final int WIDTH = 640;
  private static final int LEFT = 78;
  private static final int RIGHT = 98;
  private static final int MARGIN = 40;
  private static final int TOP = 16;
  private static final int PLOT_HEIGHT = 300;
  private static final int BELOW = 50;
  private static final int LEGEND_LINE = 18;
  private static final int LEGEND_COLUMNS = 3;
  private static final int BAR = 4;

  /** Told apart by people who do not see all colours, and in grey by dashes and marks. */
  private static final List<String> COLOURS =
      List.of(
          "#1f5fa8", "#b3541e", "#2a7f62", "#8a3a8f", "#6b6b00", "#c2185b", "#00838f", "#5d4037",
          "#455a64", "#7b6fd0", "#d08700", "#3b8f2f", "#000000", "#e57373", "#4fa3e0", "#a0522d",
          "#9e9d24", "#c06fc0");

  private final String description;
  private final Axis x;
  private final Axis left;
  private final Axis right;
  private final List<Series> series;
  private final StringBuilder out = new StringBuilder();

  /**
   * Creates a picture.
   *
   * @param description for those who cannot see it
   * @param x the axis below
   * @param left the axis on the left
   * @param right the axis on the right, or null
   * @param series the lines
   */
  Picture(String description, Axis x, Axis left, Axis right, List<Series> series) {
    this.description = description;
    this.x = x;
    this.left = left;
    this.right = right;
    this.series = List.copyOf(series);
  }

  private double plotWidth() {
    return WIDTH - LEFT - (right == null ? MARGIN : RIGHT);
  }

  private double acrossOf(double value) {
    return LEFT + x.place(value) * plotWidth();
  }

  private static double downOf(Axis axis, double value) {
    return TOP + (1 - axis.place(value)) * PLOT_HEIGHT;
  }

  String svg() {
    List<Series> named = series.stream().filter(one -> !one.name().isEmpty()).toList();
    int legendLines = (named.size() + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
    int height = TOP + PLOT_HEIGHT + BELOW + legendLines * LEGEND_LINE + 6;
    out.append("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 ")
        .append(WIDTH)
        .append(' ')
        .append(height)
        .append("\"><title>")
        .append(Xml.text(description))
        .append("</title>\n");
    axes();
    series.forEach(this::draw);
    for (int i = 0; i < named.size(); i++) {
      legend(named.get(i), i);
    }
    return out.append("</svg>\n").toString();
  }

  private void axes() {
    double bottom = TOP + PLOT_HEIGHT;
    double end = LEFT + plotWidth();
    for (double tick : x.ticks()) {
      double across = acrossOf(tick);
      line("grid", across, TOP, across, bottom);
      text("middle", across, bottom + 18, x.label().apply(tick));
    }
    for (double tick : left.ticks()) {
      double down = downOf(left, tick);
      line("grid", LEFT, down, end, down);
      text("end", LEFT - 8, down + 4, left.label().apply(tick));
    }
    if (right != null) {
      for (double tick : right.ticks()) {
        double down = downOf(right, tick);
        line("axis", end, down, end + 5, down);
        text("start", end + 8, down + 4, right.label().apply(tick));
      }
      line("axis", end, TOP, end, bottom);
      upright(WIDTH - 8, right.title());
    }
    line("axis", LEFT, TOP, LEFT, bottom);
    line("axis", LEFT, bottom, end, bottom);
    upright(14, left.title());
    text("middle", LEFT + plotWidth() / 2, bottom + 40, x.title());
  }

  private void upright(double across, String title) {
    double middle = TOP + PLOT_HEIGHT / 2.0;
    out.append("<text text-anchor=\"middle\" transform=\"translate(")
        .append(Xml.at(across))
        .append(' ')
        .append(Xml.at(middle))
        .append(") rotate(-90)\">")
        .append(Xml.text(title))
        .append("</text>\n");
  }

  private void line(String kind, double x1, double y1, double x2, double y2) {
    out.append("<line class=\"").append(kind).append("\" x1=\"").append(Xml.at(x1));
    out.append("\" y1=\"").append(Xml.at(y1)).append("\" x2=\"").append(Xml.at(x2));
    out.append("\" y2=\"").append(Xml.at(y2)).append("\"/>\n");
  }

  private void text(String anchor, double across, double down, String text) {
    out.append("<text text-anchor=\"").append(anchor).append("\" x=\"").append(Xml.at(across));
    out.append("\" y=\"").append(Xml.at(down)).append("\">").append(Xml.text(text));
    out.append("</text>\n");
  }

  private static String colour(Series one) {
    return COLOURS.get(one.colour() % COLOURS.size());
  }

  private static String stroke(Series one) {
    return "stroke=\"" + colour(one) + "\"" + (one.dashed() ? " stroke-dasharray=\"6 4\"" : "");
  }

  private void draw(Series one) {
    Axis axis = one.right() ? right : left;
    out.append("<polyline class=\"line\" ").append(stroke(one)).append(" points=\"");
    for (Series.Point point : one.points()) {
      out.append(Xml.at(acrossOf(point.x()))).append(',');
      out.append(Xml.at(downOf(axis, point.y()))).append(' ');
    }
    out.append("\"/>\n");
    for (Series.Point point : one.points()) {
      mark(one, axis, point);
    }
  }

  private void mark(Series one, Axis axis, Series.Point point) {
    double across = acrossOf(point.x());
    if (point.deviation() > 0) {
      double upper = downOf(axis, point.y() + point.deviation());
      double lower = downOf(axis, point.y() - point.deviation());
      out.append("<path class=\"bar\" stroke=\"").append(colour(one)).append("\" d=\"M");
      out.append(Xml.at(across)).append(' ').append(Xml.at(upper)).append('V');
      out.append(Xml.at(lower)).append('M').append(Xml.at(across - BAR)).append(' ');
      out.append(Xml.at(upper)).append("h8M").append(Xml.at(across - BAR)).append(' ');
      out.append(Xml.at(lower)).append("h8\"/>\n");
    }
    if (one.marked()) {
      shape(one, across, downOf(axis, point.y()));
    }
  }

  private void shape(Series one, double across, double down) {
    out.append("<path class=\"mark\" fill=\"").append(one.dashed() ? "#fff" : colour(one));
    out.append("\" stroke=\"").append(colour(one)).append("\" d=\"");
    out.append(Mark.of(one.colour()).around(across, down)).append("\"/>\n");
  }

  private void legend(Series one, int index) {
    double across = 20 + index % LEGEND_COLUMNS * ((WIDTH - 20.0) / LEGEND_COLUMNS);
    double down = TOP + PLOT_HEIGHT + BELOW + 12 + index / LEGEND_COLUMNS * LEGEND_LINE;
    out.append("<line class=\"line\" ").append(stroke(one)).append(" x1=\"");
    out.append(Xml.at(across)).append("\" y1=\"").append(Xml.at(down - 4)).append("\" x2=\"");
    out.append(Xml.at(across + 26)).append("\" y2=\"").append(Xml.at(down - 4)).append("\"/>\n");
    if (one.marked()) {
      shape(one, across + 13, down - 4);
    }
    text("start", across + 32, down, one.name());
  }
}

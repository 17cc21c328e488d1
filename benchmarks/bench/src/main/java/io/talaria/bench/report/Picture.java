// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import java.util.List;

/** Draws lines over two logarithmic axes as SVG. */
final class Picture {
  private static final int NARROW = 640;
  private static final int LOW = 300;
  private static final int PAGE_WIDE = 1100;
  private static final int HIGH = 400;
  private static final int LEFT = 78;
  private static final int MARGIN = 40;
  private static final int TOP = 16;
  private static final int BELOW = 50;
  private static final int LEGEND_LINE = 18;
  private static final int LEGEND_COLUMN = 210;
  private static final int BAR = 4;

  /** Told apart by people who do not see all colours, and in grey by dashes and marks. */
  private static final List<String> COLOURS =
      List.of(
          "#1f5fa8", "#b3541e", "#2a7f62", "#8a3a8f", "#6b6b00", "#c2185b", "#00838f", "#5d4037",
          "#455a64", "#7b6fd0", "#c27e00", "#3b8f2f", "#000000", "#df6666", "#3f98d8", "#a0522d",
          "#939221", "#c06fc0");

  /** The same hues for a dark variant. */
  private static final List<String> ON_DARK =
      List.of(
          "#6cb2ff", "#f0965c", "#5ec9a3", "#d58ada", "#c9c94a", "#ff7fae", "#4fd0dc", "#c9a193",
          "#a3bac5", "#a9a0f5", "#ffbe4d", "#7fd672", "#ffffff", "#ff9d9d", "#8fd0ff", "#e0a27f",
          "#dcdb6a", "#eaa6ea");

  private static final String STYLE =
      """
      svg { font: 12px system-ui, sans-serif; background: #fff; }
      svg text { fill: #1c2530; }
      .grid { stroke: #dfe4ea; } .axis { stroke: #5b6673; }
      .line { fill: none; stroke-width: 2; } .bar { fill: none; stroke-width: 1.2; }
      """;

  /** Hollow marks are filled with the variant. */
  private static final String DARK_STYLE =
      """
      @media (prefers-color-scheme: dark) {
      svg { background: #0d1117; } svg text { fill: #e6edf3; }
      .grid { stroke: #30363d; } .axis { stroke: #9aa5b1; } [fill="#fff"] { fill: #0d1117; }
      """;

  private final String description;
  private final Axis x;
  private final Axis y;
  private final List<Series> series;
  private final int width;
  private final int plotHeight;
  private final StringBuilder out = new StringBuilder();

  private Picture(
      String description, Axis x, Axis y, List<Series> series, int width, int plotHeight) {
    this.description = description;
    this.x = x;
    this.y = y;
    this.series = List.copyOf(series);
    this.width = width;
    this.plotHeight = plotHeight;
  }

  /**
   * Creates a picture that stands alone and may be shown small.
   *
   * @param description for those who cannot see it
   * @param x the axis below
   * @param y the axis on the left
   * @param series the lines
   */
  static Picture alone(String description, Axis x, Axis y, List<Series> series) {
    return new Picture(description, x, y, series, NARROW, LOW);
  }

  /** Creates a picture as wide as a page; the parameters are those of {@link #alone}. */
  static Picture ofAPage(String description, Axis x, Axis y, List<Series> series) {
    return new Picture(description, x, y, series, PAGE_WIDE, HIGH);
  }

  /** Returns the style that pictures have in a page, which is light. */
  static String style() {
    return STYLE;
  }

  /**
   * Returns a picture with a style of its own, to stand outside of a page: light, or dark where the
   * reader's system is.
   *
   * @param svg the picture, as {@link #svg} returns it
   */
  static String withStyle(String svg) {
    StringBuilder style = new StringBuilder(STYLE).append(DARK_STYLE);
    for (int i = 0; i < COLOURS.size(); i++) {
      for (String of : new String[] {"stroke", "fill"}) {
        String here = of + "=\"" + COLOURS.get(i) + "\"";
        if (svg.contains(here)) {
          style.append('[').append(here).append("] { ").append(of).append(": ");
          style.append(ON_DARK.get(i)).append("; }\n");
        }
      }
    }
    int inside = svg.indexOf('>') + 1;
    return svg.substring(0, inside) + "<style>" + style + "}\n</style>" + svg.substring(inside);
  }

  private double plotWidth() {
    return width - LEFT - MARGIN;
  }

  private int legendColumns() {
    return width / LEGEND_COLUMN;
  }

  private double acrossOf(double value) {
    return LEFT + x.place(value) * plotWidth();
  }

  private double downOf(double value) {
    return TOP + (1 - y.place(value)) * plotHeight;
  }

  String svg() {
    int legendLines = (series.size() + legendColumns() - 1) / legendColumns();
    int height = TOP + plotHeight + BELOW + legendLines * LEGEND_LINE + 6;
    out.append("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 ")
        .append(width)
        .append(' ')
        .append(height)
        .append("\"><title>")
        .append(Xml.text(description))
        .append("</title>\n");
    axes();
    series.forEach(this::draw);
    for (int i = 0; i < series.size(); i++) {
      legend(series.get(i), i);
    }
    return out.append("</svg>\n").toString();
  }

  private void axes() {
    double bottom = TOP + plotHeight;
    double end = LEFT + plotWidth();
    for (double tick : x.ticks()) {
      double across = acrossOf(tick);
      line("grid", across, TOP, across, bottom);
      text("middle", across, bottom + 18, x.label().apply(tick));
    }
    for (double tick : y.ticks()) {
      double down = downOf(tick);
      line("grid", LEFT, down, end, down);
      text("end", LEFT - 8, down + 4, y.label().apply(tick));
    }
    line("axis", LEFT, TOP, LEFT, bottom);
    line("axis", LEFT, bottom, end, bottom);
    upright(14, y.title());
    text("middle", LEFT + plotWidth() / 2, bottom + 40, x.title());
  }

  private void upright(double across, String title) {
    double middle = TOP + plotHeight / 2.0;
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
    return COLOURS.get(one.hue() % COLOURS.size());
  }

  private static String stroke(Series one) {
    return "stroke=\"" + colour(one) + "\"" + one.stroke().attribute();
  }

  private void draw(Series one) {
    out.append("<polyline class=\"line\" ").append(stroke(one)).append(" points=\"");
    for (Series.Point point : one.points()) {
      out.append(Xml.at(acrossOf(point.x()))).append(',');
      out.append(Xml.at(downOf(point.y()))).append(' ');
    }
    out.append("\"/>\n");
    for (Series.Point point : one.points()) {
      mark(one, point);
    }
  }

  private void mark(Series one, Series.Point point) {
    double across = acrossOf(point.x());
    if (point.deviation() > 0) {
      double upper = downOf(point.y() + point.deviation());
      double lower = downOf(point.y() - point.deviation());
      out.append("<path class=\"bar\" stroke=\"").append(colour(one)).append("\" d=\"M");
      out.append(Xml.at(across)).append(' ').append(Xml.at(upper)).append('V');
      out.append(Xml.at(lower)).append('M').append(Xml.at(across - BAR)).append(' ');
      out.append(Xml.at(upper)).append("h8M").append(Xml.at(across - BAR)).append(' ');
      out.append(Xml.at(lower)).append("h8\"/>\n");
    }
    if (one.marked()) {
      shape(one, across, downOf(point.y()));
    }
  }

  private void shape(Series one, double across, double down) {
    out.append("<path class=\"mark\" fill=\"")
        .append(one.stroke() == Series.Stroke.DASHED ? "#fff" : colour(one));
    out.append("\" stroke=\"").append(colour(one)).append("\" d=\"");
    out.append(Mark.of(one.hue()).around(across, down)).append("\"/>\n");
  }

  private void legend(Series one, int index) {
    double across = 20 + index % legendColumns() * ((width - 20.0) / legendColumns());
    double down = TOP + plotHeight + BELOW + 12 + index / legendColumns() * LEGEND_LINE;
    out.append("<line class=\"line\" ").append(stroke(one)).append(" x1=\"");
    out.append(Xml.at(across)).append("\" y1=\"").append(Xml.at(down - 4)).append("\" x2=\"");
    out.append(Xml.at(across + 26)).append("\" y2=\"").append(Xml.at(down - 4)).append("\"/>\n");
    if (one.marked()) {
      shape(one, across + 13, down - 4);
    }
    text("start", across + 32, down, one.name());
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.harness.Latencies.Percentiles;
import io.talaria.cli.harness.Units;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler.TextAlignment;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Draws latencies by percentile: the further to the right, the rarer; both axes are logarithmic.
 *
 * <p>The library cannot name the ticks of a logarithmic axis, so it is given logarithms.
 */
final class LatencyPicture {
  private static final int WIDTH = 960;
  private static final int HEIGHT = 600;
  private static final int TITLE_POINTS = 17;
  private static final int TITLE_PADDING = 12;
  private static final int TEXT_POINTS = 15;
  private static final int X_SPACING = 120;
  private static final int Y_SPACING = 60;
  private static final int STEPS_PER_DECADE = 20;
  private static final Color JDK_COLOUR = new Color(0xB3, 0x54, 0x1E);
  private static final Color TALARIA_COLOUR = new Color(0x1F, 0x5F, 0xA8);

  private static final int DECADES = 5;
  private static final List<String> UNITS = List.of("ns", "µs", "ms", "s");
  private static final double TICK_ERROR = 1e-6;

  private final XYChart chart;
  private double lowestNs = Double.MAX_VALUE;
  private double highestNs = 1;

  LatencyPicture(String title, String conditions) {
    chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title + ", " + conditions)
            .xAxisTitle("percentile of round trips")
            .yAxisTitle("round trip")
            .build();
    XYStyler styler = chart.getStyler();
    styler.setXAxisTickMarkSpacingHint(X_SPACING);
    styler.setYAxisTickMarkSpacingHint(Y_SPACING);
    styler.setLegendPosition(LegendPosition.InsideNW);
    styler.setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, TEXT_POINTS));
    styler.setAxisTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, TEXT_POINTS));
    styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, TEXT_POINTS));
    styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, TITLE_POINTS));
    styler.setChartTitleBoxVisible(false);
    styler.setChartBackgroundColor(Color.WHITE);
    styler.setPlotBorderVisible(false);
    styler.setYAxisLabelAlignment(TextAlignment.Right);
    styler.setChartTitlePadding(TITLE_PADDING);
    chart.setCustomXAxisTickLabelsFormatter(LatencyPicture::percentile);
    chart.setCustomYAxisTickLabelsFormatter(LatencyPicture::time);
  }

  void addJdk(Histogram histogram) {
    add("JDK sockets", histogram, JDK_COLOUR);
  }

  void addTalaria(Histogram histogram) {
    add("Talaria", histogram, TALARIA_COLOUR);
  }

  private void add(String name, Histogram histogram, Color colour) {
    Percentiles p = Percentiles.of(histogram);
    List<Double> x = new ArrayList<>();
    List<Double> y = new ArrayList<>();
    int steps = (int) (STEPS_PER_DECADE * Math.min(DECADES, Math.log10((double) p.count())));
    for (int i = 0; i <= steps; i++) {
      double decade = (double) i / STEPS_PER_DECADE;
      double ns = histogram.getValueAtPercentile(100 - 100 / Math.pow(10, decade));
      x.add(decade);
      y.add(Math.log10(ns));
      lowestNs = Math.min(lowestNs, ns);
      highestNs = Math.max(highestNs, ns);
    }
    String label = name + "   p50 " + Units.time(p.p50()) + ",  p99 " + Units.time(p.p99());
    XYSeries series = chart.addSeries(label, x, y);
    series.setMarker(SeriesMarkers.NONE);
    series.setLineColor(colour);
    series.setLineStyle(new BasicStroke(3f));
  }

  /** Labels a tick where one in 10 to the power of the tick is slower: 0 %, 90 %, 99 %, 99.9 %. */
  static String percentile(double tick) {
    long decade = Math.round(tick);
    if (Math.abs(tick - decade) > TICK_ERROR || decade < 0) {
      return "";
    }
    String format = "%." + Math.max(0, decade - 2) + "f %%";
    return String.format(Locale.ROOT, format, 100 - 100 / Math.pow(10, (double) decade));
  }

  /** Labels a tick of 10 to its power nanoseconds: 100 ns, 1 µs. */
  static String time(double tick) {
    int decade = (int) Math.round(tick);
    if (Math.abs(tick - decade) > TICK_ERROR || decade < 0) {
      return "";
    }
    int unit = Math.min(decade / 3, UNITS.size() - 1);
    return String.format(Locale.ROOT, "%.0f %s", Math.pow(10, decade - 3 * unit), UNITS.get(unit));
  }

  /**
   * Writes the picture.
   *
   * @param file its name ends in .svg or .png
   * @throws IOException if it cannot be written
   */
  void write(Path file) throws IOException {
    XYStyler styler = chart.getStyler();
    styler.setXAxisMin(0.0);
    styler.setXAxisMax((double) DECADES);
    styler.setYAxisMin(Math.floor(Math.log10(lowestNs)));
    styler.setYAxisMax(Math.ceil(Math.log10(highestNs)));
    if (file.toString().toLowerCase(Locale.ROOT).endsWith(".png")) {
      BitmapEncoder.saveBitmap(chart, file.toString(), BitmapFormat.PNG);
    } else {
      VectorGraphicsEncoder.saveVectorGraphic(chart, file.toString(), VectorGraphicsFormat.SVG);
    }
  }
}

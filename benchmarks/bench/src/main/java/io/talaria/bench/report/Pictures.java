// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.report.Series.Point;
import io.talaria.bench.report.Series.Stroke;
import io.talaria.bench.result.Group;
import io.talaria.bench.result.Row;
import io.talaria.bench.result.Statistics;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * The pictures of a report, of one quantity each. In all of them a library has one colour and one
 * mark, and a transport one style of line.
 */
final class Pictures {
  private static final double NINES = 5;
  private static final int STEPS_PER_NINE = 10;
  private static final double MEGA = 1e6;

  private final List<String> libraries;

  Pictures(List<Group> groups) {
    libraries = groups.stream().map(Pictures::library).distinct().toList();
  }

  /** The library, and the run if there are several: the label without its transport. */
  private static String library(Group group) {
    LinkImplementation implementation = group.rows().get(0).implementation();
    return implementation.binding().label()
        + group.label().substring(implementation.label().length());
  }

  private static Stroke stroke(Group group) {
    return switch (group.rows().get(0).implementation().transport()) {
      case TCP -> Stroke.DASHED;
      case UCX -> Stroke.DOTTED;
      case SHM, DIRECT -> Stroke.SOLID;
    };
  }

  /** Takes the statistics of a figure from a group. */
  private interface Figure extends Function<Group, Statistics> {}

  private static Figure figure(ToDoubleFunction<Row> of) {
    return group -> group.statistics(of);
  }

  private static Axis sizes(List<Group> groups) {
    return Axis.around(
        "size of a message",
        2,
        groups.stream().mapToDouble(group -> group.measured().sizeBytes()).toArray(),
        Units::bytes);
  }

  private static Axis connections(List<Group> groups) {
    return Axis.around(
        "connections",
        2,
        groups.stream().mapToDouble(group -> group.measured().connections()).toArray(),
        Units::figure);
  }

  static Axis values(String title, List<Series> series, Function<Double, String> label) {
    double[] all =
        series.stream().flatMap(one -> one.points().stream()).mapToDouble(Point::y).toArray();
    return Axis.around(title, 10, all, label::apply);
  }

  private Series series(Group group, boolean marked, List<Point> points) {
    return new Series(
        group.label(), libraries.indexOf(library(group)), stroke(group), marked, points);
  }

  private List<Series> lines(List<Group> groups, ToDoubleFunction<Group> x, Figure y) {
    List<Series> all = new ArrayList<>();
    for (String label : groups.stream().map(Group::label).distinct().toList()) {
      List<Group> own = groups.stream().filter(group -> group.label().equals(label)).toList();
      List<Point> points =
          own.stream()
              .map(group -> point(x.applyAsDouble(group), y.apply(group)))
              .sorted((a, b) -> Double.compare(a.x(), b.x()))
              .toList();
      all.add(series(own.get(0), true, points));
    }
    return all;
  }

  private static Point point(double x, Statistics y) {
    return new Point(x, y.mean(), y.deviation());
  }

  private static double size(Group group) {
    return group.measured().sizeBytes();
  }

  private static double count(Group group) {
    return group.measured().connections();
  }

  private static String draw(
      String description, Axis x, String y, List<Series> lines, Function<Double, String> label) {
    return Picture.ofAPage(description, x, values(y, lines, label), lines).svg();
  }

  /** Draws messages a second by size. */
  String messages(List<Group> groups) {
    List<Series> lines = lines(groups, Pictures::size, figure(Row::messagesPerSecond));
    return draw(
        "Messages a second by size", sizes(groups), "messages a second", lines, Units::rate);
  }

  /** Draws bytes a second by size. */
  String bytes(List<Group> groups) {
    List<Series> lines =
        lines(groups, Pictures::size, figure(row -> row.megabytesPerSecond() * MEGA));
    return draw(
        "Bytes a second by size",
        sizes(groups),
        "bytes of payload a second",
        lines,
        Pictures::bytesPerSecond);
  }

  static String bytesPerSecond(double value) {
    return value >= 1e9
        ? Units.figure(value / 1e9) + " GB/s"
        : value >= MEGA
            ? Units.figure(value / MEGA) + " MB/s"
            : Units.figure(value / 1e3) + " kB/s";
  }

  /** Draws a percentile of times by size. */
  String times(List<Group> groups, int percentile) {
    List<Series> lines = lines(groups, Pictures::size, group -> group.percentile(percentile));
    return draw(
        "Time of an operation by size, " + name(percentile),
        sizes(groups),
        "time of an operation, " + name(percentile),
        lines,
        Units::time);
  }

  /** Draws the same by connections. */
  String timesScaling(List<Group> groups, int percentile) {
    List<Series> lines = lines(groups, Pictures::count, group -> group.percentile(percentile));
    return draw(
        "Time of an operation by connections, " + name(percentile),
        connections(groups),
        "time of an operation, " + name(percentile),
        lines,
        Units::time);
  }

  private static String name(int percentile) {
    return percentile == 50 ? "median" : percentile + " %";
  }

  /** Draws messages a second of all connections together, by connections. */
  String throughputScaling(List<Group> groups) {
    List<Series> lines = lines(groups, Pictures::count, figure(Row::messagesPerSecond));
    return draw(
        "Messages a second by connections",
        connections(groups),
        "messages a second, all together",
        lines,
        Units::rate);
  }

  /** Draws times by percentile: the further right, the rarer. */
  String distribution(List<Group> groups) {
    List<Series> lines =
        groups.stream().map(group -> series(group, false, distribution(group.times()))).toList();
    return draw(
        "Time of an operation by percentile",
        percentiles("percentile"),
        "time",
        lines,
        Units::time);
  }

  static Axis percentiles(String title) {
    return new Axis(title, 10, 0, NINES, Pictures::percentile);
  }

  private static List<Point> distribution(Histogram times) {
    return distribution(times, times.getTotalCount());
  }

  /**
   * Returns times by percentile.
   *
   * @param times the times
   * @param count how many there must be for the rarest percentile that is drawn
   */
  static List<Point> distribution(Histogram times, long count) {
    List<Point> points = new ArrayList<>();
    double rarest = Math.min(NINES, Math.log10((double) Math.max(1, count)));
    for (int i = 0; i <= (int) (STEPS_PER_NINE * rarest); i++) {
      double oneIn = Math.pow(10, (double) i / STEPS_PER_NINE);
      points.add(new Point(oneIn, times.getValueAtPercentile(100 - 100 / oneIn), 0));
    }
    return points;
  }

  /** Labels a tick where one in so many is slower. */
  static String percentile(double oneIn) {
    long nines = Math.round(Math.log10(oneIn));
    return String.format(
        java.util.Locale.ROOT, "%." + Math.max(0, nines - 2) + "f %%", 100 - 100 / oneIn);
  }
}

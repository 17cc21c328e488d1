// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.report.Series.Point;
import io.talaria.bench.result.Group;
import io.talaria.bench.result.Row;
import io.talaria.bench.result.Statistics;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/** The pictures of a report. Each contender has one colour in all of them. */
final class Pictures {
  private static final double NINES = 5;
  private static final int STEPS_PER_NINE = 10;
  private static final double MEGA = 1e6;

  private final List<String> labels;

  Pictures(List<String> labels) {
    this.labels = List.copyOf(labels);
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

  private List<Series> lines(
      List<Group> groups, ToDoubleFunction<Group> x, Figure y, boolean second, boolean right) {
    List<Series> all = new ArrayList<>();
    for (String label : labels) {
      List<Point> points =
          groups.stream()
              .filter(group -> group.label().equals(label))
              .map(group -> point(x.applyAsDouble(group), y.apply(group)))
              .sorted((a, b) -> Double.compare(a.x(), b.x()))
              .toList();
      if (!points.isEmpty()) {
        String name = second ? "" : label;
        int colour = labels.indexOf(label);
        all.add(new Series(name, colour, second, right, true, points));
      }
    }
    return all;
  }

  private static Point point(double x, Statistics y) {
    return new Point(x, y.mean(), y.deviation());
  }

  /** Draws messages a second (left) and bytes a second (right) by size. */
  String throughput(List<Group> groups) {
    ToDoubleFunction<Group> size = group -> group.measured().sizeBytes();
    List<Series> rates = lines(groups, size, figure(Row::messagesPerSecond), false, false);
    List<Series> bytes =
        lines(groups, size, figure(row -> row.megabytesPerSecond() * MEGA), true, true);
    List<Series> all = new ArrayList<>(rates);
    all.addAll(bytes);
    return new Picture(
            "Messages and bytes a second by size",
            sizes(groups),
            values("messages a second (solid)", rates, Units::rate),
            values("bytes a second (dashed)", bytes, Pictures::bytesPerSecond),
            all)
        .svg();
  }

  static String bytesPerSecond(double value) {
    return value >= 1e9
        ? Units.figure(value / 1e9) + " GB/s"
        : value >= MEGA
            ? Units.figure(value / MEGA) + " MB/s"
            : Units.figure(value / 1e3) + " kB/s";
  }

  /** Draws the median (solid) and 99 % (dashed) of times by size. */
  String latency(List<Group> groups) {
    ToDoubleFunction<Group> size = group -> group.measured().sizeBytes();
    return times(groups, size, sizes(groups), "Time of an operation by size");
  }

  /** Draws the same by connections. */
  String latencyScaling(List<Group> groups) {
    ToDoubleFunction<Group> count = group -> group.measured().connections();
    return times(groups, count, connections(groups), "Time of an operation by connections");
  }

  private String times(
      List<Group> groups, ToDoubleFunction<Group> where, Axis x, String description) {
    List<Series> all =
        new ArrayList<>(lines(groups, where, group -> group.percentile(50), false, false));
    all.addAll(lines(groups, where, group -> group.percentile(99), true, false));
    return new Picture(
            description, x, values("median (solid), 99 % (dashed)", all, Units::time), null, all)
        .svg();
  }

  /** Draws messages a second of all connections together, by connections. */
  String throughputScaling(List<Group> groups) {
    List<Series> rates =
        lines(
            groups,
            group -> group.measured().connections(),
            figure(Row::messagesPerSecond),
            false,
            false);
    return new Picture(
            "Messages a second by connections",
            connections(groups),
            values("messages a second, all together", rates, Units::rate),
            null,
            rates)
        .svg();
  }

  /** Draws times by percentile: the further right, the rarer. */
  String distribution(List<Group> groups) {
    List<Series> all = new ArrayList<>();
    for (Group group : groups) {
      all.add(
          new Series(
              group.label(),
              labels.indexOf(group.label()),
              false,
              false,
              false,
              distribution(group.times())));
    }
    return new Picture(
            "Time of an operation by percentile",
            percentiles("percentile"),
            values("time", all, Units::time),
            null,
            all)
        .svg();
  }

  static Axis percentiles(String title) {
    return new Axis(title, 10, 0, NINES, Pictures::percentile);
  }

  static List<Point> distribution(Histogram times) {
    List<Point> points = new ArrayList<>();
    double rarest = Math.min(NINES, Math.log10((double) Math.max(1, times.getTotalCount())));
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

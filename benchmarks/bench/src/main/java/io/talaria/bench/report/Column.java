// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.bench.result.Group;
import io.talaria.bench.result.Row;
import io.talaria.bench.result.Statistics;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.Function;

/**
 * A column of a report's table.
 *
 * @param heading what it shows
 * @param cell the text for a group
 */
record Column(String heading, Function<Group, String> cell) {
  static final String AGAINST_TCP = "ratio to JDK sockets";

  static final String WIRE = "wire / payload";

  private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99, 100};

  /**
   * Returns the columns for a pattern.
   *
   * @param pattern the pattern
   * @param shown all groups of the table
   */
  static List<Column> of(Pattern pattern, List<Group> shown) {
    List<Column> columns = new ArrayList<>();
    columns.add(new Column("implementation", Group::label));
    columns.add(new Column("size", group -> Units.bytes(group.measured().sizeBytes())));
    columns.add(
        new Column("connections", group -> Integer.toString(group.measured().connections())));
    columns.add(new Column("runs", group -> Integer.toString(group.rows().size())));
    columns.add(
        new Column(
            "messages", group -> spread(group.statistics(Row::messagesPerSecond), Units::rate)));
    columns.add(
        new Column(
            "payload",
            group ->
                spread(
                    group.statistics(row -> row.megabytesPerSecond() * 1e6),
                    Pictures::bytesPerSecond)));
    if (shown.stream().anyMatch(group -> !againstPlain(pattern, group, shown).isEmpty())) {
      columns.add(new Column(AGAINST_TCP, group -> againstPlain(pattern, group, shown)));
    }
    if (pattern == Pattern.ALL_TO_ALL) {
      columns.add(
          new Column(
              "slowest process",
              group -> spread(group.statistics(Row::slowestMessagesPerSecond), Units::rate)));
      columns.add(
          new Column(
              "fastest process",
              group -> spread(group.statistics(Row::fastestMessagesPerSecond), Units::rate)));
    }
    if (pattern.latency()) {
      for (double percentile : PERCENTILES) {
        String name =
            percentile == 100
                ? "longest"
                : new java.math.BigDecimal(Double.toString(percentile))
                        .stripTrailingZeros()
                        .toPlainString()
                    + " %";
        columns.add(new Column(name, group -> spread(group.percentile(percentile), Units::time)));
      }
    }
    columns.add(new Column(WIRE, Column::wire));
    return columns;
  }

  /** How many times as fast as the same on the JDK's sockets, or empty. */
  private static String againstPlain(Pattern pattern, Group group, List<Group> shown) {
    LinkImplementation implementation = group.rows().get(0).implementation();
    if (!implementation.transport().accelerated()) {
      return "";
    }
    String tcp =
        new LinkImplementation(implementation.binding(), SocketTransport.TCP).label()
            + group.label().substring(implementation.label().length());
    return shown.stream()
        .filter(one -> one.label().equals(tcp) && one.measured().equals(group.measured()))
        .findFirst()
        .map(one -> Units.times(ratio(pattern, group, one)))
        .orElse("");
  }

  private static double ratio(Pattern pattern, Group group, Group tcp) {
    return pattern.latency()
        ? tcp.percentile(50).mean() / group.percentile(50).mean()
        : group.statistics(Row::messagesPerSecond).mean()
            / tcp.statistics(Row::messagesPerSecond).mean();
  }

  private static String spread(Statistics statistics, DoubleFunction<String> unit) {
    String mean = unit.apply(statistics.mean());
    return statistics.count() == 1
        ? mean
        : mean
            + String.format(
                Locale.ROOT, " ± %.0f %%", 100 * statistics.deviation() / statistics.mean());
  }

  /** What the wire carried for each byte of payload. */
  private static String wire(Group group) {
    long payload = group.rows().stream().mapToLong(Row::payloadBytes).sum();
    long infiniband = group.rows().stream().mapToLong(Row::infinibandBytes).sum();
    long carried = group.rows().stream().mapToLong(Row::wireBytes).sum();
    long most = Math.max(infiniband, carried);
    return most < 0 || payload == 0 ? "" : Units.times((double) most / payload);
  }
}

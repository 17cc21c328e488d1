// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.report;

import io.talaria.cli.harness.Units;
import io.talaria.observatory.plan.Contender;
import io.talaria.observatory.plan.Pattern;
import io.talaria.observatory.result.Group;
import io.talaria.observatory.result.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The page with all results: no script, nothing from elsewhere, and well-formed as XML, too. */
public final class HtmlReport {
  private static final String STYLE =
      """
      body { font: 15px/1.45 system-ui, sans-serif; color: #1c2530; background: #fff;
        margin: 2rem auto; max-width: 1360px; padding: 0 1rem; }
      h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin: 2rem 0 .4rem; }
      h3 { font-size: 1rem; margin: .6rem 0 .2rem; }
      pre { background: #f4f6f8; padding: .7rem 1rem; overflow-x: auto; }
      .pictures { display: grid; gap: 1rem 2rem;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
      figure { margin: 0; break-inside: avoid; }
      svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
      svg text { fill: #1c2530; }
      .grid { stroke: #dfe4ea; } .axis { stroke: #5b6673; }
      .line { fill: none; stroke-width: 2; } .bar { fill: none; stroke-width: 1.2; }
      .wide { overflow-x: auto; }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
      th, td { padding: .15rem .6rem; border-bottom: 1px solid #dfe4ea; text-align: right;
        white-space: nowrap; }
      th:first-child, td:first-child { text-align: left; }
      .failed { color: #9b1c1c; }
      @media print { body { font-size: 10pt; margin: 0; max-width: none; }
        .pictures { grid-template-columns: 1fr 1fr; } h2 { break-after: avoid; }
        table { font-size: 7.5pt; } tr { break-inside: avoid; } .wide { overflow: visible; } }
      """;

  private final String title;
  private final List<String> conditions;
  private final List<String> failures;
  private final List<Group> groups;
  private final Pictures pictures;
  private final StringBuilder out = new StringBuilder();

  /**
   * Creates a report.
   *
   * @param title its title
   * @param conditions lines that say where and how it was measured
   * @param rows what was measured
   * @param failures lines that say what was not
   */
  public HtmlReport(String title, List<String> conditions, List<Row> rows, List<String> failures) {
    this.title = title;
    this.conditions = List.copyOf(conditions);
    this.failures = List.copyOf(failures);
    groups = Group.of(rows);
    List<Contender> contenders = groups.stream().map(Group::contender).distinct().toList();
    pictures = new Pictures(contenders);
  }

  /** Returns the page. */
  public String page() {
    out.append("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>");
    out.append("<meta charset=\"UTF-8\"/><meta name=\"viewport\" content=\"width=device-width\"/>");
    out.append("<title>").append(Xml.text(title)).append("</title>\n<style>\n").append(STYLE);
    out.append("</style></head>\n<body>\n<h1>").append(Xml.text(title)).append("</h1>\n<pre>");
    out.append(Xml.text(String.join("\n", conditions))).append("</pre>\n");
    if (!failures.isEmpty()) {
      out.append("<h2>Not measured</h2>\n<ul>");
      failures.forEach(
          line -> out.append("<li class=\"failed\">").append(Xml.text(line)).append("</li>\n"));
      out.append("</ul>\n");
    }
    out.append("<p>Points are means over the repetitions, bars their standard deviation.</p>\n");
    for (Pattern pattern : Pattern.values()) {
      for (int rate : rates(pattern)) {
        section(pattern, rate);
      }
    }
    return out.append("</body></html>\n").toString();
  }

  private Set<Integer> rates(Pattern pattern) {
    return groups.stream()
        .filter(group -> group.measured().pattern() == pattern)
        .map(group -> group.measured().ratePerSecond())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String heading(Pattern pattern, int rate) {
    String name =
        switch (pattern) {
          case THROUGHPUT -> "Throughput, one way";
          case BIDIRECTIONAL -> "Throughput, both ways at once";
          case PINGPONG -> "Round trips";
          case ACCESS -> "Access to the peer's memory";
        };
    return !pattern.latency()
        ? name
        : rate == 0
            ? name + ", one after the other"
            : name + ", " + rate + " a second due in each connection";
  }

  private void section(Pattern pattern, int rate) {
    List<Group> all =
        groups.stream()
            .filter(
                group ->
                    group.measured().pattern() == pattern
                        && group.measured().ratePerSecond() == rate)
            .toList();
    out.append("<h2>").append(Xml.text(heading(pattern, rate))).append("</h2>\n");
    out.append("<div class=\"pictures\">\n");
    List<Integer> counts =
        all.stream().map(group -> group.measured().connections()).distinct().sorted().toList();
    List<Integer> sizes =
        all.stream().map(group -> group.measured().sizeBytes()).distinct().sorted().toList();
    if (sizes.size() > 1 || counts.size() == 1) {
      bySize(pattern, all, counts.getFirst());
    }
    if (counts.size() > 1) {
      byConnections(pattern, all, sizes.getFirst());
    }
    if (pattern.latency()) {
      distributions(all, counts.getFirst(), sizes);
    }
    out.append("</div>\n");
    table(pattern, all);
  }

  private static List<Group> having(List<Group> all, int connections, int sizeBytes) {
    return all.stream()
        .filter(group -> connections == 0 || group.measured().connections() == connections)
        .filter(group -> sizeBytes == 0 || group.measured().sizeBytes() == sizeBytes)
        .toList();
  }

  private void figure(String heading, String svg) {
    out.append("<figure><h3>").append(Xml.text(heading)).append("</h3>\n").append(svg);
    out.append("</figure>\n");
  }

  private static String connections(int count) {
    return count + (count == 1 ? " connection" : " connections");
  }

  private void bySize(Pattern pattern, List<Group> all, int count) {
    List<Group> shown = having(all, count, 0);
    figure(
        "By size, " + connections(count),
        pattern.latency() ? pictures.latency(shown) : pictures.throughput(shown));
  }

  private void byConnections(Pattern pattern, List<Group> all, int sizeBytes) {
    List<Group> shown = having(all, 0, sizeBytes);
    figure(
        "By connections, " + Units.bytes(sizeBytes),
        pattern.latency() ? pictures.latencyScaling(shown) : pictures.throughputScaling(shown));
  }

  private void distributions(List<Group> all, int count, List<Integer> sizes) {
    for (int size : new TreeSet<>(List.of(sizes.getFirst(), sizes.getLast()))) {
      figure(
          "Distribution, " + Units.bytes(size) + ", " + connections(count),
          pictures.distribution(having(all, count, size)));
    }
  }

  private void table(Pattern pattern, List<Group> all) {
    List<Column> columns = Column.of(pattern);
    out.append("<div class=\"wide\"><table><thead><tr>");
    columns.forEach(column -> cell("th", column.heading()));
    out.append("</tr></thead>\n<tbody>\n");
    for (Group group : ordered(all)) {
      out.append("<tr>");
      columns.forEach(column -> cell("td", column.cell().apply(group)));
      out.append("</tr>\n");
    }
    out.append("</tbody></table></div>\n");
  }

  /** Puts side by side what is to be compared. */
  private static List<Group> ordered(List<Group> all) {
    List<Group> sorted = new ArrayList<>(all);
    sorted.sort(
        (a, b) ->
            a.measured().connections() != b.measured().connections()
                ? Integer.compare(a.measured().connections(), b.measured().connections())
                : Integer.compare(a.measured().sizeBytes(), b.measured().sizeBytes()));
    return sorted;
  }

  private void cell(String tag, String text) {
    out.append('<').append(tag).append('>').append(Xml.text(text));
    out.append("</").append(tag).append('>');
  }
}

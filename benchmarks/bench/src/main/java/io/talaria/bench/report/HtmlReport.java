// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.plan.Pattern;
import io.talaria.bench.result.Group;
import io.talaria.bench.result.Results;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/** The page with all results: no script, nothing from elsewhere, and well-formed as XML, too. */
public final class HtmlReport {
  private static final String STYLE =
      """
      :root { color-scheme: light; }
      @page { size: A4 landscape; margin: 12mm; }
      body { font: 15px/1.45 system-ui, sans-serif; color: #1c2530; background: #fff;
        margin: 2rem auto; max-width: 1360px; padding: 0 1rem; }
      h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin: 2rem 0 .4rem; }
      h3 { font-size: 1rem; margin: .6rem 0 .2rem; }
      pre { background: #f4f6f8; padding: .7rem 1rem; white-space: pre-wrap;
        overflow-wrap: anywhere; }
      .pictures { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
      figure { margin: 0; min-width: 0; overflow-x: auto; break-inside: avoid; }
      svg { display: block; width: 100%; min-width: 760px; height: auto; }
      .wide { overflow-x: auto; }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 12px; }
      th, td { padding: .15rem .2rem; border-bottom: 1px solid #dfe4ea; text-align: right;
        white-space: nowrap; }
      th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
        background: #fff; }
      dt { font-weight: 600; float: left; clear: left; margin-right: .6em; }
      dd { margin: 0 0 .15rem 8rem; }
      .failed { color: #9b1c1c; }
      @media print { body { font-size: 10pt; margin: 0; padding: 0; max-width: none; }
        h2, h3 { break-after: avoid; }
        svg { min-width: 0; } figure, .wide { overflow: visible; }
        table { font-size: 7pt; } th, td { padding: .1rem .3rem; }
        tr { break-inside: avoid; } thead { display: table-header-group; } }
      """;

  private final String title;
  private final List<Results> runs;
  private final List<Group> groups;
  private final Pictures pictures;
  private final Map<String, String> figures = new LinkedHashMap<>();
  private final StringBuilder out = new StringBuilder();

  /**
   * Creates a report.
   *
   * @param title its title
   * @param runs what is shown; several side by side
   */
  public HtmlReport(String title, List<Results> runs) {
    this.title = title;
    this.runs = List.copyOf(runs);
    groups = Group.of(runs);
    pictures = new Pictures(groups);
  }

  /** Returns the page's pictures, each a whole SVG file, by names for files without a suffix. */
  public Map<String, String> pictures() {
    if (figures.isEmpty()) {
      page();
    }
    return Collections.unmodifiableMap(figures);
  }

  /** Returns the page. */
  public String page() {
    out.setLength(0);
    out.append("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>");
    out.append("<meta charset=\"UTF-8\"/><meta name=\"viewport\" content=\"width=device-width\"/>");
    out.append("<title>").append(Xml.text(title)).append("</title>\n<style>\n").append(STYLE);
    out.append(Picture.style())
        .append("</style></head>\n<body>\n<h1>")
        .append(Xml.text(title))
        .append("</h1>\n");
    conditions();
    failures();
    repetitions();
    groups.stream()
        .map(group -> new Section(group.measured()))
        .distinct()
        .sorted()
        .forEach(this::section);
    names();
    return out.append("</body></html>\n").toString();
  }

  private void conditions() {
    for (int i = 0; i < runs.size(); i++) {
      if (runs.size() > 1) {
        out.append("<h3>Run ").append(i + 1).append(": ");
        out.append(Xml.text(runs.get(i).name())).append("</h3>\n");
      }
      out.append("<pre>").append(Xml.text(String.join("\n", runs.get(i).conditions())));
      out.append("</pre>\n");
    }
  }

  private void failures() {
    List<String> failures = runs.stream().flatMap(run -> run.failures().stream()).toList();
    if (!failures.isEmpty()) {
      out.append("<h2>Not measured</h2>\n<ul>");
      failures.forEach(
          line -> out.append("<li class=\"failed\">").append(Xml.text(line)).append("</li>\n"));
      out.append("</ul>\n");
    }
  }

  private void repetitions() {
    if (groups.stream().anyMatch(group -> group.rows().size() > 1)) {
      out.append("<p>Points are means over repetitions, bars their standard deviation.</p>\n");
    }
  }

  private void names() {
    Map<String, String> names = Names.of(groups);
    if (!names.isEmpty()) {
      out.append("<h2>Names</h2>\n<dl>");
      names.forEach(
          (name, meaning) ->
              out.append("<dt>")
                  .append(Xml.text(name))
                  .append("</dt><dd>")
                  .append(Xml.text(meaning))
                  .append("</dd>\n"));
      out.append("</dl>\n");
    }
  }

  private void section(Section section) {
    List<Group> all =
        groups.stream().filter(group -> section.equals(new Section(group.measured()))).toList();
    Pattern pattern = section.pattern();
    out.append("<h2>").append(Xml.text(section.heading())).append("</h2>\n");
    out.append("<div class=\"pictures\">\n");
    List<Integer> counts =
        all.stream().map(group -> group.measured().connections()).distinct().sorted().toList();
    List<Integer> sizes =
        all.stream().map(group -> group.measured().sizeBytes()).distinct().sorted().toList();
    if (sizes.size() > 1 || counts.size() == 1) {
      bySize(section, all, counts.get(0));
    }
    if (counts.size() > 1) {
      byConnections(section, all, sizes.get(0));
    }
    if (pattern.latency()) {
      distributions(section, all, counts.get(0), sizes);
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

  private void figure(Section section, String heading, String svg) {
    String name = section.heading() + " " + heading;
    figures.put(
        name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-"), Picture.withStyle(svg));
    out.append("<figure><h3>").append(Xml.text(heading)).append("</h3>\n").append(svg);
    out.append("</figure>\n");
  }

  private static String connections(int count) {
    return count + (count == 1 ? " connection" : " connections");
  }

  private void bySize(Section section, List<Group> all, int count) {
    List<Group> shown = having(all, count, 0);
    String where = " by size, " + connections(count);
    if (section.pattern().latency()) {
      figure(section, "Median" + where, pictures.times(shown, 50));
      figure(section, "99 %" + where, pictures.times(shown, 99));
    } else {
      figure(section, "Messages a second" + where, pictures.messages(shown));
      figure(section, "Bytes a second" + where, pictures.bytes(shown));
    }
  }

  private void byConnections(Section section, List<Group> all, int sizeBytes) {
    List<Group> shown = having(all, 0, sizeBytes);
    String where = " by connections, " + Units.bytes(sizeBytes);
    if (section.pattern().latency()) {
      figure(section, "Median" + where, pictures.timesScaling(shown, 50));
      figure(section, "99 %" + where, pictures.timesScaling(shown, 99));
    } else {
      figure(section, "Messages a second" + where, pictures.throughputScaling(shown));
    }
  }

  private void distributions(Section section, List<Group> all, int count, List<Integer> sizes) {
    for (int size : new TreeSet<>(List.of(sizes.get(0), sizes.get(sizes.size() - 1)))) {
      figure(
          section,
          "Distribution, " + Units.bytes(size) + ", " + connections(count),
          pictures.distribution(having(all, count, size)));
    }
  }

  private void table(Pattern pattern, List<Group> all) {
    List<Column> columns = Column.of(pattern, all);
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

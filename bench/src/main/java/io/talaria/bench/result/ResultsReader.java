// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Reads back what runs have left in a folder. */
public final class ResultsReader {
  private static final List<List<String>> CONDITIONS =
      List.of(
          List.of("Host", "host", "time"),
          List.of("CPU", "cpu", "cores"),
          List.of("System", "kernel"),
          List.of("Java", "java"),
          List.of("Talaria", "talaria"),
          List.of("Pinning", "pinning"),
          List.of("Server", "server"));

  private ResultsReader() {}

  /**
   * Reads all runs of a folder, in the order of the file.
   *
   * @param folder the folder
   * @throws HarnessException if there are none, or a file makes no sense
   */
  public static List<Results> read(Path folder) throws HarnessException {
    Path table = folder.resolve(CsvFile.NAME);
    Map<String, List<CsvRow>> runs = new LinkedHashMap<>();
    for (CsvRow row : rows(table)) {
      runs.computeIfAbsent(row.text("run"), run -> new ArrayList<>()).add(row);
    }
    if (runs.isEmpty()) {
      throw new HarnessException(table + " holds no results");
    }
    List<Results> all = new ArrayList<>();
    for (Map.Entry<String, List<CsvRow>> run : runs.entrySet()) {
      all.add(results(folder, run.getKey(), run.getValue()));
    }
    return all;
  }

  private static List<CsvRow> rows(Path table) throws HarnessException {
    List<List<String>> lines;
    try {
      lines = Csv.parse(Files.readString(table));
    } catch (IOException e) {
      throw new HarnessException(
          table
              + " cannot be read"
              + (Files.exists(table)
                  ? ": " + FileFault.reason(e)
                  : ": there is no such file; name the folder of an earlier run, its --out"),
          e);
    }
    List<CsvRow> rows = new ArrayList<>();
    for (int i = 1; i < lines.size(); i++) {
      String place = table + ", row " + (i + 1);
      if (lines.get(i).size() != lines.get(0).size()) {
        throw new HarnessException(
            place
                + " has "
                + lines.get(i).size()
                + " cells; it must have "
                + lines.get(0).size()
                + ", as many as the first row");
      }
      Map<String, String> cells = new LinkedHashMap<>();
      // Files from before there were more processes than two do not tell how many.
      cells.put("processes", "2");
      for (int j = 0; j < lines.get(i).size(); j++) {
        cells.put(lines.get(0).get(j), lines.get(i).get(j));
      }
      rows.add(new CsvRow(place, cells));
    }
    return rows;
  }

  private static Results results(Path folder, String name, List<CsvRow> rows)
      throws HarnessException {
    Map<String, Histogram> histograms = HistogramLog.read(folder.resolve(name + ".hlog"));
    List<Row> whole = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    for (CsvRow cells : rows) {
      Row row = cells.row(histograms);
      if (row.measured().pattern().latency() && row.times() == null) {
        failures.add(
            row.contender().label()
                + ", "
                + row.measured().describe()
                + ": "
                + name
                + ".hlog does not hold its times");
      } else {
        whole.add(row);
      }
    }
    return new Results(name, conditions(rows.get(0)), whole, failures);
  }

  private static List<String> conditions(CsvRow row) throws HarnessException {
    List<String> lines = new ArrayList<>();
    for (List<String> line : CONDITIONS) {
      List<String> values = new ArrayList<>();
      for (String column : line.subList(1, line.size())) {
        values.add(row.text(column) + (column.equals("cores") ? " cores" : ""));
      }
      lines.add(String.format("%-8s %s", line.get(0), String.join(", ", values)));
    }
    return lines;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.cli.harness.HarnessException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Reads back what runs have left in a folder. */
public final class ResultsReader {
  private ResultsReader() {}

  /**
   * Reads all runs of a folder, in the order of the file.
   *
   * @param folder the folder
   * @throws HarnessException if there are none, or a file makes no sense
   */
  public static List<Results> read(Path folder) throws HarnessException {
    Path table = folder.resolve(CsvFile.NAME);
    Map<String, List<ResultLine>> runs = new LinkedHashMap<>();
    for (ResultLine line : CsvFile.read(table)) {
      runs.computeIfAbsent(line.run(), run -> new ArrayList<>()).add(line);
    }
    if (runs.isEmpty()) {
      throw new HarnessException(table + " holds no results");
    }
    List<Results> all = new ArrayList<>();
    for (Map.Entry<String, List<ResultLine>> run : runs.entrySet()) {
      all.add(results(folder, run.getKey(), run.getValue()));
    }
    return all;
  }

  private static Results results(Path folder, String name, List<ResultLine> lines)
      throws HarnessException {
    Map<String, Histogram> histograms = HistogramLog.read(folder.resolve(name + ".hlog"));
    List<Row> whole = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    for (ResultLine line : lines) {
      Row row = line.row(histograms);
      if (row.measured().pattern().latency() && row.times() == null) {
        failures.add(
            row.implementation().label()
                + ", "
                + row.measured().describe()
                + ": "
                + name
                + ".hlog does not hold its times");
      } else {
        whole.add(row);
      }
    }
    return new Results(name, conditions(lines.get(0)), whole, failures);
  }

  private static List<String> conditions(ResultLine line) {
    return List.of(
        "Host     " + line.host() + ", " + line.time(),
        "CPU      " + line.cpu() + ", " + line.cores() + " cores",
        "System   " + line.kernel(),
        "Java     " + line.java(),
        "Talaria  " + line.talaria(),
        "Pinning  " + line.pinning(),
        "Server   " + line.server());
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.result.HistogramLog;
import io.talaria.cli.harness.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Results as spreadsheets and HdrHistogram's tools read them. */
final class ResultFiles {
  private static final CsvMapper CSV = new CsvMapper();

  private ResultFiles() {}

  @JsonPropertyOrder({"id", "label", "unit", "implementation", "iteration", "value"})
  private record Line(
      String id, String label, String unit, String implementation, int iteration, double value) {}

  /** Returns a line for each figure of each iteration, with a heading. */
  static String csv(Result result) throws JsonProcessingException {
    List<Line> lines = new ArrayList<>();
    for (Measure measure : result.measures()) {
      for (Map.Entry<Implementation, List<Double>> one : measure.iterations().entrySet()) {
        for (int i = 0; i < one.getValue().size(); i++) {
          Double value = one.getValue().get(i);
          if (value != null) {
            lines.add(
                new Line(
                    measure.id(),
                    measure.label(),
                    measure.unit(),
                    name(one.getKey()),
                    i + 1,
                    value));
          }
        }
      }
    }
    return CSV.writer(CSV.schemaFor(Line.class).withHeader()).writeValueAsString(lines);
  }

  /** As JSON has it. */
  private static String name(Implementation implementation) {
    return Json.tree(implementation).asText();
  }

  /**
   * Returns a log of the times of each iteration, in nanoseconds, tagged
   * ID.IMPLEMENTATION.ITERATION.
   */
  static byte[] hlog(Result result) {
    Map<String, Histogram> histograms = new LinkedHashMap<>();
    for (Distribution one : result.times()) {
      String tag = HistogramLog.tag(one.id(), name(one.implementation()), one.iteration());
      histograms.put(tag, one.histogram());
    }
    return HistogramLog.of(result.format() + ", nanoseconds", histograms);
  }
}

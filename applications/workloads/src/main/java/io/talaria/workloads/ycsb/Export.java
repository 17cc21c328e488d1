// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.compare.Iteration;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where one phase of an iteration is exported to: a file of its own, and what makes YCSB write into
 * it what is wanted. Immutable.
 *
 * @param file the file; empty for none
 * @param properties what YCSB must know
 */
record Export(String file, Map<String, String> properties) {
  private static final Export NONE = new Export("", Map.of());

  static Export of(YcsbOptions options, Iteration iteration, Phase phase) {
    if (options.export() == null) {
      return NONE;
    }
    Path wanted = options.export().toAbsolutePath();
    String name = wanted.getFileName().toString();
    int dot = name.lastIndexOf('.');
    String stem =
        (dot < 0 ? name : name.substring(0, dot)) + "-" + iteration.suffix() + "-" + phase.label();
    Map<String, String> properties = new TreeMap<>();
    if (options.seriesMs() == null) {
      properties.put("measurementtype", "hdrhistogram");
      properties.put("hdrhistogram.percentiles", "50,90,95,99,99.9,99.99");
      properties.put("hdrhistogram.fileoutput", "true");
      properties.put("hdrhistogram.output.path", wanted.resolveSibling(stem) + "-");
    } else {
      properties.put("measurementtype", "timeseries");
      properties.put("timeseries.granularity", options.seriesMs().toString());
    }
    return new Export(
        wanted.resolveSibling(stem + (dot < 0 ? "" : name.substring(dot))).toString(), properties);
  }
}

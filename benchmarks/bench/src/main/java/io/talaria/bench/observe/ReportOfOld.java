// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.report.HtmlReport;
import io.talaria.bench.result.FileFault;
import io.talaria.bench.result.Results;
import io.talaria.bench.result.ResultsReader;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A report of earlier runs, side by side, without measuring again. */
final class ReportOfOld {
  private static final String NAME = "report.html";

  private ReportOfOld() {}

  /**
   * Finds runs.
   *
   * @param folders where they have left their results
   * @param names which; empty: all
   * @throws HarnessException if there is none of that name, or a file makes no sense
   */
  static List<Results> find(List<Path> folders, List<String> names) throws HarnessException {
    List<Results> all = new ArrayList<>();
    for (Path folder : folders) {
      all.addAll(ResultsReader.read(folder));
    }
    List<String> there = all.stream().map(Results::name).toList();
    for (String name : names) {
      if (!there.contains(name)) {
        throw new HarnessException(
            "there is no run " + name + "; there are " + String.join(", ", there));
      }
    }
    return names.isEmpty() ? all : all.stream().filter(run -> names.contains(run.name())).toList();
  }

  /**
   * Writes the report.
   *
   * @param runs what it shows
   * @param folder where to; made if it does not exist
   * @param pictures whether to write each picture to a file of its own, too
   * @return the file
   * @throws HarnessException if it cannot be written
   */
  static Path write(List<Results> runs, Path folder, boolean pictures) throws HarnessException {
    String title = "Observatory: " + (runs.size() == 1 ? runs.getFirst().name() : "several runs");
    Path file = folder.resolve(NAME);
    try {
      Files.createDirectories(folder);
      HtmlReport report = new HtmlReport(title, runs);
      Files.writeString(file, report.page());
      if (pictures) {
        for (Map.Entry<String, String> picture : report.pictures().entrySet()) {
          Files.writeString(folder.resolve(picture.getKey() + ".svg"), picture.getValue());
        }
      }
      return file;
    } catch (IOException e) {
      throw new HarnessException("cannot write " + file + ": " + FileFault.reason(e), e);
    }
  }
}

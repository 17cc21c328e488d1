// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.cli.harness.HarnessException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * Raw histograms in HdrHistogram's log format, nanoseconds, each tagged by {@link #tag}: the one
 * form in which all benchmarks write them. Used by one thread.
 */
public final class HistogramLog {
  private static final double NS = 1;

  private final Path file;

  /** What is not yet in the file: the writer's own stream would say nothing of a full disk. */
  private final ByteArrayOutputStream pending;

  private final HistogramLogWriter writer;

  /**
   * Begins a file.
   *
   * @param file the file, replaced if it exists
   * @param comment its first line
   * @throws IOException if it cannot be written
   */
  public HistogramLog(Path file, String comment) throws IOException {
    this.file = file;
    pending = new ByteArrayOutputStream();
    writer = begin(pending, comment);
    Files.write(file, pending.toByteArray());
  }

  private static HistogramLogWriter begin(ByteArrayOutputStream to, String comment) {
    HistogramLogWriter log =
        new HistogramLogWriter(new PrintStream(to, true, StandardCharsets.UTF_8));
    log.outputComment(comment);
    log.outputLogFormatVersion();
    log.outputLegend();
    return log;
  }

  /**
   * Returns a whole log.
   *
   * @param comment its first line
   * @param histograms by their tags
   */
  public static byte[] of(String comment, Map<String, Histogram> histograms) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    HistogramLogWriter log = begin(bytes, comment);
    histograms.forEach((tag, histogram) -> write(log, tag, histogram, 0));
    return bytes.toByteArray();
  }

  /**
   * Returns the tag of the times of an iteration, {@code ID.IMPLEMENTATION.ITERATION} without
   * commas and blanks.
   *
   * @param id the name for machines of what was timed
   * @param implementation the implementation's name in files
   * @param iteration which iteration, from 1
   */
  public static String tag(String id, String implementation, int iteration) {
    return (id + "." + implementation + "." + iteration).replaceAll("[,\\s]+", "_");
  }

  /**
   * Appends the histograms of a row.
   *
   * @param row the row
   * @throws HarnessException if they cannot be written; nothing of them is in the file then
   */
  public void append(Row row) throws HarnessException {
    pending.reset();
    long now = System.currentTimeMillis();
    row.timed().forEach((id, histogram) -> write(writer, row.tag(id), histogram, now));
    Appended.append(file, pending.toByteArray());
  }

  private static void write(HistogramLogWriter log, String tag, Histogram histogram, long atMs) {
    Histogram tagged = histogram.copy();
    tagged.setTag(tag);
    tagged.setStartTimeStamp(atMs);
    tagged.setEndTimeStamp(atMs);
    log.outputIntervalHistogram(atMs / 1e3, atMs / 1e3, tagged, NS);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.cli.harness.HarnessException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

/**
 * The raw histograms of a run in HdrHistogram's log format, nanoseconds, each tagged by {@link
 * Row#tag}; those of the open loop that begin with the operation have {@code .begun} added. Used by
 * one thread.
 */
public final class HistogramLog {
  /** What is added to the tag of times from an operation's own beginning in the open loop. */
  static final String BEGUN = ".begun";

  private static final double NS = 1;

  private final Path file;

  /** What is not yet in the file: the writer's own stream would say nothing of a full disk. */
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream();

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
    writer = new HistogramLogWriter(new PrintStream(pending, true, StandardCharsets.UTF_8));
    writer.outputComment(comment);
    writer.outputLogFormatVersion();
    writer.outputLegend();
    Files.write(file, pending.toByteArray());
  }

  /**
   * Appends the histograms of a row.
   *
   * @param row the row
   * @throws HarnessException if they cannot be written; nothing of them is in the file then
   */
  public void append(Row row) throws HarnessException {
    pending.reset();
    append(row.tag(), row.times());
    if (row.sinceDue() != null) {
      append(row.tag() + BEGUN, row.sinceBegun());
    }
    Appended.append(file, pending.toByteArray());
  }

  private void append(String tag, Histogram histogram) {
    if (histogram != null) {
      long now = System.currentTimeMillis();
      Histogram tagged = histogram.copy();
      tagged.setTag(tag);
      tagged.setStartTimeStamp(now);
      tagged.setEndTimeStamp(now);
      writer.outputIntervalHistogram(now / 1e3, now / 1e3, tagged, NS);
    }
  }

  /**
   * Reads a file back.
   *
   * @param file the file
   * @return its histograms by their tags; none if there is no such file
   * @throws HarnessException if it cannot be read
   */
  static Map<String, Histogram> read(Path file) throws HarnessException {
    Map<String, Histogram> all = new HashMap<>();
    if (!Files.exists(file)) {
      return all;
    }
    try (InputStream in = Files.newInputStream(file);
        HistogramLogReader reader = new HistogramLogReader(in)) {
      while (reader.hasNext()) {
        if (reader.nextIntervalHistogram() instanceof Histogram histogram) {
          all.put(histogram.getTag(), histogram);
        }
      }
      return all;
    } catch (IOException | RuntimeException e) {
      throw new HarnessException(file + " holds no histograms: " + e.getMessage(), e);
    }
  }
}

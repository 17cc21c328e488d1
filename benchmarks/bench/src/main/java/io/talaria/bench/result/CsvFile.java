// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.dataformat.csv.CsvGenerator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The table for spreadsheets to which results are appended, a line each; what is read back is the
 * result itself. Used by one thread.
 */
public final class CsvFile {
  /** The name of the file in its folder. */
  public static final String NAME = "results.csv";

  private static final CsvMapper MAPPER =
      CsvMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .enable(CsvGenerator.Feature.STRICT_CHECK_FOR_QUOTING)
          .build();
  private static final CsvSchema COLUMNS = MAPPER.schemaFor(ResultLine.class);

  private final Path file;

  private CsvFile(Path file) {
    this.file = file;
  }

  /**
   * Opens the file, or begins it.
   *
   * @param file the file
   * @throws HarnessException if it cannot be written, or has other columns
   */
  public static CsvFile open(Path file) throws HarnessException {
    String header = String.join(",", COLUMNS.getColumnNames()) + "\n";
    try {
      Files.write(file, new byte[0], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      if (Files.size(file) == 0) {
        Appended.append(file, header.getBytes(StandardCharsets.UTF_8));
      } else {
        check(file, header);
      }
    } catch (IOException e) {
      throw new HarnessException("cannot write " + file + ": " + FileFault.reason(e), e);
    }
    return new CsvFile(file);
  }

  private static void check(Path file, String header) throws IOException, HarnessException {
    String there;
    try (var lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
      there = lines.readLine() + "\n";
    }
    if (!there.equals(header)) {
      throw new HarnessException(
          file + " has other columns than this version writes; name another folder, --out");
    }
    if (Appended.endsWithinLine(file)) {
      throw new HarnessException(
          file + " ends in the middle of a row; mend it, or name another folder, --out");
    }
  }

  /**
   * Appends a line.
   *
   * @param line the line
   * @throws HarnessException if it cannot be written; nothing of it is in the file then
   */
  public void append(ResultLine line) throws HarnessException {
    try {
      Appended.append(
          file, MAPPER.writer(COLUMNS).writeValueAsString(line).getBytes(StandardCharsets.UTF_8));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("no line for " + line, e);
    }
  }
}

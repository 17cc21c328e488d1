// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.dataformat.csv.CsvGenerator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** The file to which results are appended, a line each. Used by one thread. */
public final class CsvFile {
  /** The name of the file in its folder. */
  public static final String NAME = "results.csv";

  private static final CsvMapper MAPPER =
      CsvMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .enable(CsvParser.Feature.FAIL_ON_MISSING_COLUMNS)
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

  /**
   * Reads a file back.
   *
   * @param file the file
   * @throws HarnessException if there is none, or it makes no sense
   */
  static List<ResultLine> read(Path file) throws HarnessException {
    List<ResultLine> all = new ArrayList<>();
    CsvSchema header = CsvSchema.emptySchema().withHeader();
    try (MappingIterator<ResultLine> lines =
        MAPPER.readerFor(ResultLine.class).with(header).readValues(file.toFile())) {
      while (lines.hasNextValue()) {
        ResultLine line = lines.nextValue();
        if (!line.sound()) {
          throw new HarnessException(
              place(file, all) + ": it holds no figures, such as an elapsed_s above 0");
        }
        all.add(line);
      }
      return all;
    } catch (InvalidFormatException e) {
      throw new HarnessException(
          place(file, all) + ": " + name(e) + " is '" + e.getValue() + "'; it must be " + wanted(e),
          e);
    } catch (JsonProcessingException e) {
      throw new HarnessException(place(file, all) + ": " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new HarnessException(
          file
              + " cannot be read"
              + (Files.exists(file)
                  ? ": " + FileFault.reason(e)
                  : ": there is no such file; name the folder of an earlier run, its --out"),
          e);
    }
  }

  /** Says which row is wrong: the one behind those that were sound and the first. */
  private static String place(Path file, List<ResultLine> sound) {
    return file + ", row " + (sound.size() + 2);
  }

  private static String name(JsonMappingException e) {
    return e.getPath().isEmpty() ? "it" : e.getPath().get(0).getFieldName();
  }

  private static String wanted(InvalidFormatException e) {
    Class<?> type = e.getTargetType();
    if (!type.isEnum()) {
      return type == double.class || type == Double.class ? "a number" : "a whole number";
    }
    List<String> names = new ArrayList<>();
    for (Object constant : type.getEnumConstants()) {
      names.add(MAPPER.convertValue(constant, String.class));
    }
    return "one of " + String.join(", ", names);
  }
}

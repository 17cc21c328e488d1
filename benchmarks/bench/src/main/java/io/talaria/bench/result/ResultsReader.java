// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Machine;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.HdrHistogram.Histogram;

/**
 * Reads what a report shows from the form in which all benchmarks write their results, as the runs
 * of a folder have left it there.
 */
public final class ResultsReader {
  /** The name of the format of a run's result. */
  public static final String FORMAT = "talaria-observe-3";

  private static final String FAMILY = FORMAT.substring(0, FORMAT.lastIndexOf('-') + 1);

  private ResultsReader() {}

  /** A result, and when its run began. */
  private record Dated(String time, Results results) {}

  /**
   * What a result says of its run beside the conditions that all benchmarks have: its options in
   * the file.
   *
   * @param plan what was to be measured
   * @param run the run's name
   * @param host this host's name
   * @param server versions and name of the server's side
   * @param notes further lines for the conditions
   */
  public record Options(Object plan, String run, String host, String server, List<String> notes) {
    /** Copies the list. */
    public Options {
      notes = List.copyOf(notes);
    }

    /** Returns them by their names, as a result has them. */
    public Map<String, Object> byName() {
      return Map.of("plan", plan, "run", run, "host", host, "server", server, "notes", notes);
    }
  }

  /**
   * Reads all runs of a folder, the earliest first.
   *
   * @param folder the folder
   * @throws HarnessException if there are none, or a file makes no sense or is of another version
   */
  public static List<Results> read(Path folder) throws HarnessException {
    List<Dated> all = new ArrayList<>();
    for (Path file : files(folder)) {
      JsonNode tree = tree(file);
      String format = tree == null ? "" : tree.path("format").asText();
      if (!format.startsWith(FAMILY)) {
        continue; // a plan, or the result of another benchmark
      }
      if (!format.equals(FORMAT)) {
        throw new HarnessException(
            file
                + " has the format "
                + format
                + "; this version reads "
                + FORMAT
                + ": measure again, into another folder, --out");
      }
      String time = tree.path("environment").path("time").asText();
      all.add(new Dated(time, results(file.toString(), tree)));
    }
    if (all.isEmpty()) {
      throw new HarnessException(
          folder
              + " holds no results"
              + (Files.exists(folder.resolve(CsvFile.NAME))
                  ? " but the table "
                      + CsvFile.NAME
                      + ", which is not read: reports are made of the files NAME-TIME.json, format "
                      + FORMAT
                  : "; name the folder of an earlier run, its --out"));
    }
    all.sort(Comparator.comparing(Dated::time));
    return all.stream().map(Dated::results).toList();
  }

  private static List<Path> files(Path folder) throws HarnessException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    } catch (IOException e) {
      throw new HarnessException(folder + " cannot be read: " + FileFault.reason(e), e);
    }
  }

  /** Returns what a file holds; null if that is not JSON, as no result is. */
  private static JsonNode tree(Path file) throws HarnessException {
    try {
      return Json.parse(Files.readString(file));
    } catch (JsonProcessingException e) {
      return null;
    } catch (IOException e) {
      throw new HarnessException(file + " cannot be read: " + FileFault.reason(e), e);
    }
  }

  /**
   * Returns what a result holds.
   *
   * @param place where it is, for messages
   * @param result the result, as files have it
   * @throws HarnessException if it makes no sense
   */
  public static Results results(String place, JsonNode result) throws HarnessException {
    String at = place;
    try {
      at = place + ": environment";
      Machine machine = Json.as(result.path("environment"), Machine.class);
      at = place + ": options";
      JsonNode said = result.path("options");
      Options options = Json.as(said, Options.class);
      Map<String, Histogram> times = times(place, result);
      List<Row> rows = new ArrayList<>();
      Set<String> failures = new LinkedHashSet<>();
      for (JsonNode run : result.path("runs")) {
        at = place + ": runs[" + (rows.size() + failures.size()) + "]";
        ResultLine line = Json.as(run.path("found"), ResultLine.class);
        if (line == null || !line.sound()) {
          throw new HarnessException(at + " holds no figures, such as an elapsed_s above 0");
        }
        Row row =
            line.row(
                id -> times.get(HistogramLog.tag(id, line.implementation(), line.repetition())));
        if (row.measured().pattern().latency() && row.times() == null) {
          failures.add(
              line.implementation()
                  + ", "
                  + row.measured().describe()
                  + ": "
                  + place
                  + " does not hold its times");
        } else {
          rows.add(row);
        }
      }
      result.path("missing").forEach(one -> failures.add(missing(one)));
      return new Results(options.run(), conditions(machine, options), rows, List.copyOf(failures));
    } catch (InvalidFormatException e) {
      throw new HarnessException(
          at + ": " + name(e) + " is '" + e.getValue() + "'; it must be " + wanted(e), e);
    } catch (JsonProcessingException e) {
      throw new HarnessException(at + ": " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new HarnessException(at + ": " + e.getMessage(), e);
    }
  }

  /**
   * Returns all times by their tags, which name what was timed, whose they are and in which run.
   */
  private static Map<String, Histogram> times(String place, JsonNode result)
      throws HarnessException {
    try {
      return StreamSupport.stream(result.path("times").spliterator(), false)
          .collect(
              Collectors.toMap(
                  one ->
                      HistogramLog.tag(
                          one.path("id").asText(),
                          one.path("implementation").asText(),
                          one.path("iteration").asInt()),
                  one -> Latencies.decode(one.path("hdr").asText()),
                  (first, second) -> first));
    } catch (RuntimeException e) {
      throw new HarnessException(place + ": times holds no histograms: " + e.getMessage(), e);
    }
  }

  private static String missing(JsonNode one) {
    String cause = one.path("cause").asText().lines().findFirst().orElse("");
    return one.path("implementation").asText() + ", " + cause;
  }

  private static List<String> conditions(Machine machine, Options options) {
    List<String> lines = new ArrayList<>();
    lines.add("Host     " + options.host() + ", " + machine.time());
    lines.addAll(machine.lines());
    lines.add("Server   " + options.server());
    lines.addAll(options.notes());
    return lines;
  }

  private static String name(JsonMappingException e) {
    return e.getPath().isEmpty() ? "it" : e.getPath().get(0).getFieldName();
  }

  private static String wanted(InvalidFormatException e) {
    Class<?> type = e.getTargetType();
    if (!type.isEnum()) {
      return type == double.class || type == Double.class ? "a number" : "a whole number";
    }
    return Stream.of(type.getEnumConstants())
        .map(constant -> Json.tree(constant).asText())
        .collect(Collectors.joining(", ", "one of ", ""));
  }
}

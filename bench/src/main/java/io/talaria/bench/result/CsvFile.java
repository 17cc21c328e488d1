// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.bench.harness.Machine;
import io.talaria.bench.plan.Pattern;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** The file to which results are appended, one row a run. Used by one thread. */
public final class CsvFile {
  /** The name of the file in its folder. */
  public static final String NAME = "results.csv";

  private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99, 100};

  private static final List<String> COLUMNS =
      List.of(
          "run",
          "time",
          "host",
          "cpu",
          "cores",
          "kernel",
          "java",
          "talaria",
          "pinning",
          "server",
          "plan",
          "binding",
          "road",
          "roads_taken",
          "pattern",
          "processes",
          "connections",
          "size_bytes",
          "rate_per_second",
          "repetition",
          "operations",
          "messages",
          "elapsed_s",
          "messages_per_s",
          "megabytes_per_s",
          "slowest_process_messages_per_s",
          "fastest_process_messages_per_s",
          "mean_ns",
          "p50_ns",
          "p90_ns",
          "p99_ns",
          "p99.9_ns",
          "p99.99_ns",
          "max_ns",
          "begun_mean_ns",
          "begun_p50_ns",
          "begun_p90_ns",
          "begun_p99_ns",
          "begun_p99.9_ns",
          "begun_p99.99_ns",
          "begun_max_ns",
          "payload_bytes",
          "interface_bytes",
          "infiniband_bytes",
          "histogram");

  private final Path file;
  private final Environment environment;

  /**
   * What is the same for all rows of a run.
   *
   * @param run the run's name
   * @param host this host's name
   * @param machine the conditions
   * @param server versions and name of the server's side
   * @param plan the plan's name
   */
  public record Environment(String run, String host, Machine machine, String server, String plan) {}

  private CsvFile(Path file, Environment environment) {
    this.file = file;
    this.environment = environment;
  }

  /**
   * Opens the file, or begins it.
   *
   * @param file the file
   * @param environment what is the same for all rows
   * @throws HarnessException if it cannot be written, or has other columns
   */
  public static CsvFile open(Path file, Environment environment) throws HarnessException {
    String header = Csv.line(COLUMNS);
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
    return new CsvFile(file, environment);
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
   * Appends a row.
   *
   * @param row the row
   * @throws HarnessException if it cannot be written; nothing of it is in the file then
   */
  public void append(Row row) throws HarnessException {
    Appended.append(file, Csv.line(cells(row)).getBytes(StandardCharsets.UTF_8));
  }

  private List<String> cells(Row row) {
    Machine machine = environment.machine();
    List<String> cells = new ArrayList<>();
    cells.addAll(
        List.of(
            environment.run(),
            machine.time(),
            environment.host(),
            machine.cpu(),
            Integer.toString(machine.cores()),
            machine.kernel(),
            machine.jdk(),
            machine.talaria(),
            machine.pinning(),
            environment.server(),
            environment.plan(),
            row.contender().binding().label(),
            row.contender().road().label(),
            row.roads(),
            row.measured().pattern().label(),
            Integer.toString(row.measured().processes()),
            Integer.toString(row.measured().connections()),
            Integer.toString(row.measured().sizeBytes()),
            Integer.toString(row.measured().ratePerSecond()),
            Integer.toString(row.repetition()),
            Long.toString(row.operations()),
            Long.toString(row.messages()),
            figure(row.elapsedNs() / 1e9),
            figure(row.messagesPerSecond()),
            figure(row.megabytesPerSecond()),
            manyOnly(row, row.slowestMessagesPerSecond()),
            manyOnly(row, row.fastestMessagesPerSecond())));
    addTimes(cells, row.times());
    addTimes(cells, row.sinceBegun());
    cells.add(Long.toString(row.payloadBytes()));
    cells.add(known(row.wireBytes()));
    cells.add(known(row.infinibandBytes()));
    cells.add(row.times() == null ? "" : row.tag());
    return cells;
  }

  private static void addTimes(List<String> cells, Histogram times) {
    cells.add(times == null ? "" : figure(times.getMean()));
    for (double percentile : PERCENTILES) {
      cells.add(times == null ? "" : Long.toString(times.getValueAtPercentile(percentile)));
    }
  }

  private static String manyOnly(Row row, double value) {
    return row.measured().pattern() == Pattern.ALL_TO_ALL ? figure(value) : "";
  }

  private static String known(long count) {
    return count < 0 ? "" : Long.toString(count);
  }

  private static String figure(double value) {
    return String.format(Locale.ROOT, "%.6g", value);
  }
}

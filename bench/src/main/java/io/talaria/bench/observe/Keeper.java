// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.report.HtmlReport;
import io.talaria.bench.result.CsvFile;
import io.talaria.bench.result.FileFault;
import io.talaria.bench.result.HistogramLog;
import io.talaria.bench.result.ResultLine;
import io.talaria.bench.result.Results;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Keeps what was measured: each row at once, the report when it is closed. Any thread may call it,
 * because an interrupt closes it; after that it takes nothing more.
 */
final class Keeper implements AutoCloseable {
  private static final String FORMAT = "talaria-observe-2";

  private final RunPlan plan;
  private final Path report;
  private final Path table;
  private final Path histograms;
  private final Path json;
  private final Machine machine;
  private final ResultLine.Environment environment;
  private final CsvFile csv;
  private final HistogramLog log;

  // Guarded by this.
  private final List<String> conditions = new ArrayList<>();
  private final List<Row> rows = new ArrayList<>();
  private final Comparison found;
  private int restless;
  private final List<String> failures = new ArrayList<>();
  private boolean closed;

  Keeper(Path folder, RunPlan plan, Machine machine, String host, String server)
      throws HarnessException {
    this.plan = plan;
    String run = plan.name() + "-" + machine.time().replace(":", "");
    report = folder.resolve(run + ".html");
    table = folder.resolve(CsvFile.NAME);
    histograms = folder.resolve(run + ".hlog");
    json = folder.resolve(run + ".json");
    this.machine = machine;
    environment = new ResultLine.Environment(run, host, machine, server, plan.name());
    found = new Comparison(plan.implementations());
    conditions.add("Host     " + host + ", " + machine.time());
    conditions.addAll(machine.lines());
    conditions.add("Server   " + server);
    try {
      Files.createDirectories(folder);
      csv = CsvFile.open(table);
      log = new HistogramLog(histograms, "talaria observe " + plan.name() + ", nanoseconds");
    } catch (IOException e) {
      throw new HarnessException("cannot write in " + folder + ": " + FileFault.reason(e), e);
    }
  }

  /** Returns what says who is compared; nothing but this adds to it. */
  Comparison found() {
    return found;
  }

  /** Shows what was measured. */
  synchronized String table() {
    return new ShortTable(plan, results()).text();
  }

  /** Called with the lock held. */
  private Results results() {
    return new Results(plan.name(), conditions, rows, headlines());
  }

  /** Names what there is, a line each. */
  List<String> files() {
    List<String> lines = new ArrayList<>();
    name(lines, "report      ", report);
    name(lines, "results     ", table);
    name(lines, "histograms  ", histograms);
    name(lines, "json        ", json);
    return lines;
  }

  private static void name(List<String> lines, String what, Path file) {
    if (Files.exists(file)) {
      lines.add(what + file);
    }
  }

  /** Says what went wrong, a line each; what else there is to say is in a file, which is named. */
  synchronized List<String> told() {
    List<String> lines = new ArrayList<>(headlines());
    if (failures.stream().anyMatch(text -> text.lines().count() > 1)) {
      try {
        Files.writeString(details(), String.join("\n\n", failures) + "\n");
        lines.add("(more in " + details() + ")");
      } catch (IOException e) {
        lines.add("cannot write " + details() + ": " + FileFault.reason(e));
      }
    }
    return lines;
  }

  private Path details() {
    return report.resolveSibling(report.getFileName().toString().replaceFirst("html$", "log"));
  }

  private List<String> headlines() {
    return failures.stream().map(text -> text.lines().findFirst().orElse("")).toList();
  }

  synchronized List<String> failures() {
    return List.copyOf(failures);
  }

  synchronized void keep(Row row, boolean rested) {
    if (closed) {
      return;
    }
    rows.add(row);
    restless += rested ? 0 : 1;
    ResultLine line = ResultLine.of(environment, row);
    write(() -> csv.append(line));
    write(() -> log.append(row));
    Case measured = row.measured();
    String id = measured.id();
    String label = measured.describe();
    LinkImplementation implementation = row.implementation();
    found.add(
        id + "/messages", label, Quantity.PER_SECOND, implementation, row.messagesPerSecond());
    double bytes = row.megabytesPerSecond() / 1e3;
    found.add(id + "/bytes", label, Quantity.GIGABYTES_PER_SECOND, implementation, bytes);
    if (row.times() != null) {
      found.addTimes(id, label, implementation, row.times());
    }
    found.addRun(id, label, implementation, rested, line);
  }

  /** What writes. */
  private interface Writing {
    void run() throws HarnessException;
  }

  private void write(Writing writing) {
    try {
      writing.run();
    } catch (HarnessException e) {
      fail(e.getMessage());
    }
  }

  /** Remembers what went wrong, once. */
  private void fail(String line) {
    if (!failures.contains(line)) {
      failures.add(line);
    }
  }

  synchronized void keepFailure(Comparison.Missing one) {
    if (!closed) {
      fail(one.implementation().label() + ", " + one.cause());
      found.addMissing(one);
    }
  }

  /** Closes it before all is done; returns how much is, in words. */
  synchronized String closeInterrupted() {
    int wanted = plan.count() * plan.repetitions();
    String how = "interrupted with " + rows.size() + " of " + wanted + " cases done";
    if (!closed) {
      conditions.add("Ended    " + how);
      close();
    }
    return how;
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (restless > 0) {
      conditions.add(
          "Warm-up  compilers were still busy when " + restless + " of " + rows.size() + " began");
    }
    HtmlReport page = new HtmlReport("Observatory: " + plan.name(), List.of(results()));
    write(report, () -> Files.writeString(report, page.page()));
    write(json, () -> Json.write(json, found.result(FORMAT, machine, Map.of("plan", plan))));
  }

  /** What writes a whole file. */
  private interface FileWriting {
    void run() throws IOException;
  }

  private void write(Path file, FileWriting writing) {
    try {
      writing.run();
    } catch (IOException e) {
      file.toFile().delete(); // a half one would look like one of fewer cases
      fail("cannot write " + file + ": " + FileFault.reason(e));
    }
  }
}

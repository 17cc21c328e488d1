// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Report;
import io.talaria.bench.compare.Result;
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
import io.talaria.bench.result.ResultsReader;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Keeps what was measured: each row at once, the report when it is closed. Any thread may call it,
 * because an interrupt closes it; after that it takes nothing more.
 */
final class Keeper implements AutoCloseable {
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
  private final Comparison found;
  private int rows;
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
    List<Report.Planned> planned = new ArrayList<>();
    for (Case measured : cases()) {
      for (LinkImplementation implementation : plan.implementations()) {
        if (plan.cases(implementation).contains(measured)) {
          planned.add(new Report.Planned(measured.id(), measured.describe(), implementation));
        }
      }
    }
    return new Report(machine, found).libraries(planned);
  }

  private Set<Case> cases() {
    Set<Case> all = new LinkedHashSet<>();
    plan.implementations().forEach(implementation -> all.addAll(plan.cases(implementation)));
    return all;
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
    rows++;
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
    row.timed()
        .forEach(
            (timed, times) ->
                found.addTimes(
                    timed,
                    timed.equals(id) ? label : label + ", from its own beginning",
                    implementation,
                    times));
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

  /** Writes what there is so far, so that little is lost if this process is killed. */
  synchronized void save() {
    if (!closed) {
      Result result = result("unfinished, " + done());
      write(json, file -> Json.write(file, result));
    }
  }

  private String done() {
    return rows + " of " + plan.count() * plan.repetitions() + " cases done";
  }

  /** Returns all of it; called with the lock held. */
  private Result result(String ended) {
    List<String> notes = new ArrayList<>();
    if (!ended.isEmpty()) {
      notes.add("Ended    " + ended);
    }
    if (restless > 0) {
      notes.add("Warm-up  compilers were still busy when " + restless + " of " + rows + " began");
    }
    ResultsReader.Options options =
        new ResultsReader.Options(
            plan, environment.run(), environment.host(), environment.server(), notes);
    return found.result(ResultsReader.FORMAT, machine, options.byName());
  }

  /** Closes it before all is done; returns how much is, in words. */
  synchronized String closeInterrupted() {
    String how = "interrupted with " + done();
    close(how);
    return how;
  }

  @Override
  public void close() {
    close("");
  }

  private synchronized void close(String ended) {
    if (closed) {
      return;
    }
    closed = true;
    Result result = result(ended);
    write(json, file -> Json.write(file, result));
    write(report, file -> Files.writeString(file, page(Json.tree(result))));
  }

  /** Returns the report, which is made of the result as files have it, as are those of old ones. */
  private String page(JsonNode result) throws IOException {
    try {
      Results read = ResultsReader.results(json.toString(), result);
      Results shown = new Results(read.name(), read.conditions(), read.rows(), headlines());
      return new HtmlReport("Observatory: " + plan.name(), List.of(shown)).page();
    } catch (HarnessException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** What writes a whole file. */
  private interface FileWriting {
    void run(Path file) throws IOException;
  }

  /**
   * Writes a file whole or leaves what there was: a half one would look like one of fewer cases.
   */
  private void write(Path file, FileWriting writing) {
    Path half = file.resolveSibling(file.getFileName() + ".part");
    try {
      writing.run(half);
      Files.move(half, file, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      half.toFile().delete();
      fail("cannot write " + file + ": " + FileFault.reason(e));
    }
  }
}

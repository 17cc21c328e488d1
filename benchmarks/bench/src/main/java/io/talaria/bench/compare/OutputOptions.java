// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Machine;
import io.talaria.bench.result.FileFault;
import io.talaria.cli.Complaint;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say what becomes of a result: a mixin. */
public final class OutputOptions {
  private static final int MISSED = 3;
  private static final Path STANDARD_OUTPUT = Path.of("-");

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description =
          "Write all results to FILE as JSON. With -, write them to standard output, and the text"
              + " for people to standard error.")
  private Path json;

  @Option(
      names = "--csv",
      paramLabel = "FILE",
      description = "Write the results of every iteration to FILE as CSV.")
  private Path csv;

  @Option(
      names = "--hlog",
      paramLabel = "FILE",
      description = "Write the histograms of every iteration to FILE, as an HdrHistogram log.")
  private Path hlog;

  @Option(names = "--strict", description = "Exit with status 3 if a target is missed.")
  private boolean strict;

  /** Creates the options; picocli fills them. */
  public OutputOptions() {}

  /**
   * Refuses files that cannot be written, before anything is measured.
   *
   * @throws ParameterException which
   */
  public void check() {
    if (!STANDARD_OUTPUT.equals(json)) {
      check("--json", json);
    }
    check("--csv", csv);
    check("--hlog", hlog);
  }

  /**
   * Refuses a file that cannot be written.
   *
   * @param option the option that names it
   * @param file the file; null for none
   * @throws ParameterException if it cannot be written
   */
  public void check(String option, Path file) {
    if (file == null) {
      return;
    }
    Path folder = file.toAbsolutePath().getParent();
    String fault = null;
    if (folder != null && !Files.isDirectory(folder)) {
      fault = "there is no folder " + folder;
    } else if (folder == null || Files.isDirectory(file)) {
      fault = file + " is a folder";
    } else if (!Files.isWritable(Files.exists(file) ? file : folder)) {
      fault = "no permission to write " + file;
    }
    if (fault != null) {
      throw new ParameterException(command.commandLine(), option + ": " + fault);
    }
  }

  /** Returns where text for the user goes: not where JSON goes. */
  public PrintWriter people() {
    CommandLine line = command.commandLine();
    return STANDARD_OUTPUT.equals(json) ? line.getErr() : line.getOut();
  }

  /**
   * Prints the report, and writes the files wanted. A file that cannot be written keeps no other
   * from being written.
   *
   * @param found what was found
   * @param machine the conditions
   * @param format the name of the format of JSON
   * @param options what was asked for
   * @return the exit status: 1 if a figure is missing
   * @throws HarnessException if a file cannot be written
   */
  public int print(Comparison found, Machine machine, String format, Map<String, Object> options)
      throws HarnessException {
    return print(new Report(machine, found).text(), found, machine, format, options);
  }

  /**
   * The same with a report of the benchmark's own.
   *
   * @param report the text for the user; what is missing is added to it
   * @param found what was found
   * @param machine the conditions
   * @param format the name of the format of JSON
   * @param options what was asked for
   * @return the exit status: 1 if a figure is missing
   * @throws HarnessException if a file cannot be written
   */
  public int print(
      String report, Comparison found, Machine machine, String format, Map<String, Object> options)
      throws HarnessException {
    PrintWriter out = people();
    out.print(report);
    out.print(found.missingText(verbose()));
    out.flush();
    Result result = found.result(format, machine, options);
    List<Unwritten> unwritten = new ArrayList<>();
    if (STANDARD_OUTPUT.equals(json)) {
      command.commandLine().getOut().println(Json.line(result));
      command.commandLine().getOut().flush();
    } else {
      write(json, file -> Json.write(file, result), unwritten);
    }
    write(csv, file -> Files.writeString(file, ResultFiles.csv(result)), unwritten);
    write(hlog, file -> Files.write(file, ResultFiles.hlog(result)), unwritten);
    out.flush();
    if (!found.missing().isEmpty()) {
      complain(found.missing());
    }
    if (!unwritten.isEmpty()) {
      throw new HarnessException(
          unwritten.stream().map(Unwritten::text).collect(Collectors.joining("; ")),
          unwritten.get(0).cause());
    }
    if (!found.missing().isEmpty()) {
      return CommandLine.ExitCode.SOFTWARE;
    }
    return strict && found.missed() > 0 ? MISSED : CommandLine.ExitCode.OK;
  }

  /** Reports failures on standard error as well, for a user who redirects the report. */
  private void complain(List<Comparison.Missing> missing) {
    PrintWriter err = command.commandLine().getErr();
    Comparison.Missing first = missing.get(0);
    Complaint complaint = new Complaint(first.cause());
    err.println(
        "talaria: "
            + first.label()
            + " on "
            + first.implementation().label()
            + ": "
            + complaint.brief());
    if (missing.size() > 1) {
      err.println("talaria: in all " + missing.size() + " failed, all else was measured");
    }
    if (!verbose() && missing.stream().anyMatch(one -> new Complaint(one.cause()).tooMuch())) {
      err.println("talaria: --verbose shows all that was printed, as --json does");
    }
    err.flush();
  }

  private boolean verbose() {
    OptionSpec option = command.root().findOption("--verbose");
    return option != null && Boolean.TRUE.equals(option.getValue());
  }

  /** Writes a file. */
  private interface Writer {
    void write(Path file) throws IOException;
  }

  /** A file that could not be written. */
  private record Unwritten(Path file, IOException cause) {
    String text() {
      return "cannot write " + file + ": " + FileFault.reason(cause);
    }
  }

  private void write(Path file, Writer writer, List<Unwritten> unwritten) {
    if (file != null) {
      try {
        writer.write(file);
        people().println("Written: " + file);
      } catch (IOException e) {
        unwritten.add(new Unwritten(file, e));
      }
    }
  }
}

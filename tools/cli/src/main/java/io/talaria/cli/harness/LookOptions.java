// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.PrintWriter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * How often a command looks, and how it hands out what it has seen: the same options in all that
 * show a table. picocli fills it in; for the command's thread.
 */
public final class LookOptions {
  private static final double MAX_S = 86_400;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = {"-w", "--watch"},
      paramLabel = "SECONDS",
      arity = "0..1",
      fallbackValue = "1",
      description =
          "Refresh every SECONDS (default: 1) until interrupted. On a terminal it updates in"
              + " place, with as many rows as fit; otherwise it prints table after table.")
  private Double watchSeconds;

  @Option(names = "--count", paramLabel = "N", description = "Exit after N refreshes of --watch.")
  private Integer count;

  @Mixin private JsonOption json = new JsonOption();

  @Option(
      names = "--prometheus",
      paramLabel = "FILE",
      arity = "0..1",
      fallbackValue = JsonOption.STANDARD_OUTPUT,
      description =
          "Print the Prometheus text format, or write it to FILE, which is replaced atomically,"
              + " for node_exporter's textfile collector.")
  private String prometheus;

  /** Creates it; picocli fills it in. */
  public LookOptions() {}

  /**
   * Checks what was given.
   *
   * @param shortestSeconds the shortest time between two looks
   * @throws ParameterException that names the option and what is allowed
   */
  public void check(double shortestSeconds) {
    if (watching() && !(watchSeconds >= shortestSeconds && watchSeconds <= MAX_S)) {
      throw bad("--watch " + watchSeconds + " is not within " + shortestSeconds + " and 86400");
    }
    if (count != null && !watching()) {
      throw bad("--count says when --watch ends, and there is no --watch");
    }
    if (count != null && count < 1) {
      throw bad("--count " + count + " is less than 1");
    }
    if (wantsJson() && wantsPrometheus()) {
      throw bad("--json and --prometheus exclude each other");
    }
  }

  private ParameterException bad(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** Whether to look again and again. */
  public boolean watching() {
    return watchSeconds != null;
  }

  /** The time between two looks; a second if there is only one. */
  public double seconds() {
    return watching() ? watchSeconds : 1;
  }

  /**
   * Whether a look was the last.
   *
   * @param looks how many there were
   */
  public boolean enough(int looks) {
    return count != null && looks >= count;
  }

  /** Whether JSON is asked for. */
  public boolean wantsJson() {
    return json.wanted();
  }

  /** Whether the text of Prometheus is asked for. */
  public boolean wantsPrometheus() {
    return prometheus != null;
  }

  /** Whether the user asks for a machine-readable form. */
  public boolean forMachines() {
    return wantsJson() || wantsPrometheus();
  }

  /**
   * Hands JSON out, as a line or a file.
   *
   * @param out where lines go; not flushed
   * @param tree what {@link Json#line} takes
   * @throws HarnessException if the file cannot be written
   */
  public void json(PrintWriter out, Object tree) throws HarnessException {
    json.write(out, tree);
  }

  /**
   * Hands the text of Prometheus out.
   *
   * @param out where it goes if no file is named; not flushed
   * @param text the text
   * @throws HarnessException if the file cannot be written
   */
  public void prometheus(PrintWriter out, String text) throws HarnessException {
    JsonOption.to(prometheus, out, text);
  }
}

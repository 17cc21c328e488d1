// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** {@code --json [FILE]}, with or without a file. picocli fills it in; for the command's thread. */
public final class JsonOption {
  static final String STANDARD_OUTPUT = "-";

  @Option(
      names = "--json",
      paramLabel = "FILE",
      arity = "0..1",
      fallbackValue = STANDARD_OUTPUT,
      description =
          "Print one line of JSON, or write it to FILE, which is replaced atomically"
              + " (docs/seeing.md and docs/monitor.md describe it).")
  private String place;

  /** Creates it; picocli fills it in. */
  public JsonOption() {}

  /** Whether it was given. */
  public boolean wanted() {
    return place != null;
  }

  /**
   * Hands a value out.
   *
   * @param out where it goes if no file is named; not flushed
   * @param tree what {@link Json#line} takes
   * @throws HarnessException if the file cannot be written
   */
  public void write(PrintWriter out, Object tree) throws HarnessException {
    to(place, out, Json.line(tree) + "\n");
  }

  static void to(String place, PrintWriter out, String text) throws HarnessException {
    if (place.equals(STANDARD_OUTPUT)) {
      out.print(text);
    } else {
      WholeFile.write(Path.of(place), text);
    }
  }
}

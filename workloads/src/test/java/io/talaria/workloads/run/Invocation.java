// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine;

/**
 * A command as a user runs it, in this JVM; the JVMs that it starts are real.
 *
 * @param status its exit status
 * @param out what it printed
 * @param err what it printed to the standard error stream, messages of failures included
 */
public record Invocation(int status, String out, String err) {
  /** Runs a command. */
  public static Invocation of(Callable<Integer> command, String... args) {
    return watched(command, line -> {}, args);
  }

  /** Runs a command, and hands out what it prints to the standard error stream at once. */
  public static Invocation watched(
      Callable<Integer> command, Consumer<String> watcher, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        new CommandLine(command)
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(new Watched(err, watcher), true))
            .setExecutionExceptionHandler(
                (e, line, result) -> {
                  line.getErr().println(e.getMessage());
                  return CommandLine.ExitCode.SOFTWARE;
                })
            .execute(args);
    return new Invocation(status, out.toString(), err.toString());
  }

  private static final class Watched extends FilterWriter {
    private final Consumer<String> watcher;

    Watched(Writer out, Consumer<String> watcher) {
      super(out);
      this.watcher = watcher;
    }

    @Override
    public void write(String text, int offset, int length) throws IOException {
      super.write(text, offset, length);
      watcher.accept(text.substring(offset, offset + length));
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import io.talaria.nio.Mode;
import io.talaria.nio.config.Config;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code talaria ss}. */
@Command(
    name = "ss",
    mixinStandardHelpOptions = true,
    description = {
      "The live table of connections of all Talaria processes of this user on this host, with mode"
          + " and reason. It reads their counters files and disturbs nobody.",
      ""
    },
    footerHeading = "%nColumns:%n",
    footer = {
      "  mode       the road the bytes travel: tcp, shm (shared memory) or ucx",
      "  reason     why it is that road; the lines below the table say it in words",
      "  in, out    bytes read and written so far, on both roads together",
      "  stalls     writes that found no space",
      "  bells      wake-ups sent to a sleeping peer / received from it",
      "",
      "Examples:",
      "  talaria ss                    what is connected now",
      "  talaria ss --watch            the same with rates, refreshed each second",
      "  talaria ss --mode tcp         what is not accelerated, and why",
      "  talaria ss --pid 4711 --json  one process, for a script"
    })
public final class SsCommand implements Callable<Integer> {
  private static final String CLEAR = "\u001b[H\u001b[2J";

  @Spec private CommandSpec spec;

  @Option(
      names = "--pid",
      paramLabel = "PID",
      description = "Only this process; may be given several times.")
  private List<Long> pids = new ArrayList<>();

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      description = "Only connections in this mode: tcp, shm or ucx.")
  private List<String> modes = new ArrayList<>();

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "The run-time directory of the processes, if they have another talaria.dir than"
              + " /tmp/talaria-UID.")
  private Path dir;

  @Option(names = "--json", description = "JSON, one line for each table.")
  private boolean json;

  @Option(names = "--watch", description = "Refresh until interrupted.")
  private boolean watch;

  @Option(
      names = "--interval",
      paramLabel = "SECONDS",
      defaultValue = "1",
      description = "How often --watch refreshes (default: ${DEFAULT-VALUE}).")
  private double intervalSeconds;

  @Option(names = "--count", paramLabel = "N", description = "End --watch after so many tables.")
  private int count;

  /** Creates the command; picocli fills it in. */
  public SsCommand() {}

  @Override
  public Integer call() throws Exception {
    Filter filter = filter();
    if (!(intervalSeconds >= 0.01 && intervalSeconds <= 86_400)) {
      throw new ParameterException(
          spec.commandLine(), "--interval " + intervalSeconds + " is not within 0.01 and 86400");
    }
    Path from = dir == null ? defaultDir() : dir;
    PrintWriter out = spec.commandLine().getOut();
    Snapshot before = null;
    for (int n = 1; ; n++) {
      Snapshot now = snapshot(from, filter);
      print(out, before, now);
      if (!watch || n == count) {
        return 0;
      }
      if (out.checkError()) {
        return 0;
      }
      before = now;
      TimeUnit.MILLISECONDS.sleep(Math.round(intervalSeconds * 1000));
    }
  }

  private void print(PrintWriter out, Snapshot before, Snapshot now) {
    if (json) {
      out.println(Json.line(SsJson.tree(now)));
    } else {
      if (watch) {
        out.print(onTerminal() ? CLEAR : "");
      }
      Rates rates = watch ? Rates.between(before == null ? now : before, now) : null;
      out.print(SsText.render(now, rates));
      if (watch) {
        out.println();
      }
    }
    out.flush();
  }

  /** Whether standard output goes to a terminal that can clear its screen. */
  private static boolean onTerminal() {
    if ("dumb".equals(System.getenv("TERM"))) {
      return false;
    }
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException e) {
      return false;
    }
  }

  private static Snapshot snapshot(Path from, Filter filter) throws HarnessException {
    try {
      return Snapshot.take(from, filter, System.currentTimeMillis());
    } catch (IOException e) {
      throw new HarnessException("cannot read the run-time directory " + from + ": " + e, e);
    }
  }

  private static Path defaultDir() throws HarnessException {
    try {
      return Config.load().dir();
    } catch (IllegalArgumentException e) {
      throw new HarnessException(e.getMessage(), e);
    }
  }

  private Filter filter() {
    Set<Mode> wanted = EnumSet.noneOf(Mode.class);
    for (String name : modes) {
      wanted.add(
          Arrays.stream(Mode.values())
              .filter(mode -> mode.code().equalsIgnoreCase(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new ParameterException(
                          spec.commandLine(),
                          "--mode " + name + " is none of " + String.join(", ", modeNames()))));
    }
    return new Filter(new HashSet<>(pids), wanted);
  }

  private static List<String> modeNames() {
    return Arrays.stream(Mode.values()).map(Mode::code).toList();
  }
}

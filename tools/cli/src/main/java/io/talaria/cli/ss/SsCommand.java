// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.LookOptions;
import io.talaria.cli.harness.Terminal;
import io.talaria.cli.screen.Screen;
import io.talaria.cli.ss.snapshot.Filter;
import io.talaria.cli.ss.snapshot.Rates;
import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.cli.ss.snapshot.SortKey;
import io.talaria.nio.config.Config;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code talaria ss}. */
@Command(
    name = "ss",
    mixinStandardHelpOptions = true,
    description = {
      "List the connections of all Talaria processes of this user on this host, with their"
          + " transport and its reason. It only reads the processes' counters files.",
      ""
    },
    footerHeading =
        "%nSeveral values of a filter (separated by commas, or by repeating the option) match any of"
            + " them; a row must match all filters."
            + "%n%nColumns:%n",
    footer = {
      "  transport  what carries the bytes: tcp, shm (shared memory) or ucx",
      "  detail     the sizes of the rings (shm), or the transports that UCX chose",
      "  reason     why the connection has this transport; explained below the table",
      "  in, out    bytes read and written so far, on all transports",
      "  stalls     writes that found no space",
      "  wakeups    wake-ups sent to a sleeping peer / received from it",
      "  .../s      the same per second, since the last refresh (with --watch)",
      "",
      "Examples:",
      "  talaria ss                            all connections",
      "  talaria ss --watch                    the busiest first, every second",
      "  talaria ss -w 5 --sort stalls         writers that wait for space, every 5 s",
      "  talaria ss --state not-accelerated    connections on TCP, and why",
      "  talaria ss --program kafka --port 9092 --role accepted",
      "  talaria ss --reason peer-not-accelerated,no-offer",
      "  talaria ss --pid 4711 --json          one process, for a script",
      "  talaria ss --watch 10 --count 6 --json >> log  one line every 10 s for 1 min",
      "  talaria ss --nodes                    nodes of messaging and their peers",
      "  talaria ss --watch 15 --prometheus /var/lib/node_exporter/talaria.prom"
    })
public final class SsCommand implements Callable<Integer> {
  private static final double NS_PER_S = 1e9;
  private static final double MIN_S = 0.01;

  @Spec private CommandSpec spec;

  @Mixin private FilterOptions filters = new FilterOptions();

  @Mixin private LookOptions look = new LookOptions();

  @Option(
      names = "--sort",
      paramLabel = "KEY",
      description =
          "Sort rows by process, bytes, rate, stalls, wakeups or age, largest first (default:"
              + " rate with --watch, else process).")
  private String sortName;

  @Option(
      names = "--nodes",
      description =
          "List nodes of messaging and their peers instead of connections. Works with --watch, which"
              + " prints table after table, and --json, not with filters.")
  private boolean nodes;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The run-time directory, as in -Dtalaria.dir (default: /tmp/talaria-UID).")
  private Path dir;

  /** Creates the command; picocli fills it in. */
  public SsCommand() {}

  @Override
  public Integer call() throws Exception {
    Filter filter = filters.filter();
    SortKey sort = sort();
    look.check(MIN_S);
    Path from = dir == null ? defaultDir() : dir;
    PrintWriter out = spec.commandLine().getOut();
    if (nodes && (look.wantsPrometheus() || sortName != null || filters.any())) {
      throw new ParameterException(
          spec.commandLine(), "--nodes has no filters, no --sort and no --prometheus");
    }
    if (sortName != null && look.forMachines()) {
      throw new ParameterException(
          spec.commandLine(), "--sort is for the table; the other formats are not sorted by it");
    }
    if (nodes) {
      showNodes(from, out);
    } else if (!look.watching()) {
      print(out, snapshot(from, filter), null, sort);
    } else if (look.forMachines() || !Terminal.onStandardOutput()) {
      watch(from, filter, (now, rates) -> print(out, now, rates, sort));
    } else {
      watchOnScreen(from, filter, sort);
    }
    return 0;
  }

  private SortKey sort() {
    if (sortName == null) {
      return look.watching() ? SortKey.RATE : SortKey.PROCESS;
    }
    return FilterOptions.choice(spec, "--sort", sortName, SortKey.values(), SortKey::code);
  }

  /** The interval in as few digits as it needs. */
  private String every() {
    double seconds = look.seconds();
    return seconds == Math.rint(seconds) ? (long) seconds + " s" : seconds + " s";
  }

  /** Shows a snapshot, and says whether anybody looks on. */
  @FunctionalInterface
  private interface View {
    boolean show(Snapshot now, Rates rates) throws HarnessException, InterruptedException;
  }

  private void watch(Path from, Filter filter, View view)
      throws HarnessException, InterruptedException {
    Snapshot before = null;
    for (int n = 1; ; n++) {
      Snapshot now = snapshot(from, filter);
      if (!view.show(now, Rates.between(before == null ? now : before, now)) || look.enough(n)) {
        return;
      }
      before = now;
      TimeUnit.MILLISECONDS.sleep(Math.round(look.seconds() * 1000));
    }
  }

  private void watchOnScreen(Path from, Filter filter, SortKey sort)
      throws HarnessException, InterruptedException {
    Snapshot before = null;
    try (Screen screen = Screen.take()) {
      for (int n = 1; ; n++) {
        Snapshot now = snapshot(from, filter);
        Rates rates = Rates.between(before == null ? now : before, now);
        screen.show(new SsText(now, rates, sort).screen(every(), screen.size()));
        if (look.enough(n) || screen.pause(Math.round(look.seconds() * NS_PER_S))) {
          return;
        }
        before = now;
      }
    }
  }

  private void showNodes(Path from, PrintWriter out) throws HarnessException, InterruptedException {
    for (int n = 1; ; n++) {
      NodesSnapshot now;
      try {
        now = NodesSnapshot.take(from, System.currentTimeMillis());
      } catch (IOException e) {
        throw new HarnessException("cannot read the run-time directory " + from + ": " + e, e);
      }
      if (look.wantsJson()) {
        look.json(out, now.tree());
      } else {
        out.print(now.text());
      }
      if (!look.watching() || out.checkError() || look.enough(n)) {
        out.flush();
        return;
      }
      if (!look.wantsJson()) {
        out.println();
      }
      TimeUnit.MILLISECONDS.sleep(Math.round(look.seconds() * 1000));
    }
  }

  private boolean print(PrintWriter out, Snapshot now, Rates rates, SortKey sort)
      throws HarnessException {
    if (look.wantsJson()) {
      look.json(out, SsJson.tree(now, rates));
    } else if (look.wantsPrometheus()) {
      look.prometheus(out, SsPrometheus.of(now));
    } else {
      out.print(new SsText(now, rates, sort).render());
      if (rates != null) {
        out.println();
      }
    }
    return !out.checkError(); // which flushes
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
}

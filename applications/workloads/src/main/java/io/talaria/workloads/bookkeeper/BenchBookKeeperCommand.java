// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.compare.IterationOptions;
import io.talaria.bench.compare.SideOptions;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench bookkeeper}. */
@Command(
    name = "bookkeeper",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Measure writing entries to BookKeeper ledgers and reading them back. There is one bookie,"
          + " which does not wait for its disk, and a ZooKeeper server for its metadata.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench bookkeeper",
      "  talaria bench bookkeeper --size 16,1K,64K --outstanding 32",
      "  talaria bench bookkeeper --iterations 5 --json bookkeeper.json",
      "  talaria bench bookkeeper --listen 10.1.0.2:2181",
      "  talaria bench bookkeeper --remote 10.1.0.2:2181",
      "",
      "Without --listen and --remote each iteration starts new servers and a client on this"
          + " machine, in turn on the JDK's sockets and on Talaria. Results are medians over the"
          + " iterations, with their range. With --transport tcp it measures only the JDK's sockets.",
      "",
      "Exit status: 0 done; 1 an operation failed, the server stopped, or a connection was not"
          + " accelerated; 2 wrong usage."
    })
public final class BenchBookKeeperCommand implements Subcommand {
  private static final int MAX_ENTRIES = 100_000_000;
  private static final int MAX_OUTSTANDING = 10_000;
  private static final int USUAL_ENTRIES = 10_000;
  private static final int QUICK_ENTRIES = 1_000;

  /** What a bookie takes in one frame is a little more. */
  private static final int MAX_SIZE = 4 << 20;

  @Spec private CommandSpec spec;

  @Option(
      names = {"-m", "--entries"},
      paramLabel = "N",
      description = "Entries of each size. Default: 10000, with --quick 1000.")
  private Integer entries;

  @Option(
      names = "--size",
      paramLabel = "SIZE",
      split = ",",
      converter = SizeConverter.class,
      defaultValue = "1K",
      description = "Lengths of entries in bytes, or with K or M. Default: 1K.")
  private List<Integer> sizes;

  @Option(
      names = "--outstanding",
      paramLabel = "N",
      defaultValue = "1",
      description = "Writes or reads in flight at a time. Default: ${DEFAULT-VALUE}.")
  private int outstanding;

  @Option(
      names = {"-l", "--live"},
      description = "Print progress every second.")
  private boolean live;

  @Mixin private IterationOptions iterations;

  /** Creates the command; picocli fills it. */
  public BenchBookKeeperCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    SideOptions sides = iterations.sides();
    check(sides);
    int number = entries != null ? entries : iterations.quick() ? QUICK_ENTRIES : USUAL_ENTRIES;
    List<Integer> lengths = sizes.stream().distinct().toList();
    LedgerJob job = new LedgerJob(lengths, number, outstanding, iterations.warmUp());
    return iterations.compare(new LedgerBenchmark(job, live));
  }

  private void check(SideOptions sides) {
    CommandLine line = spec.commandLine();
    if (entries != null) {
      Limits.check(line, "--entries", entries, 1, MAX_ENTRIES);
    }
    Limits.check(line, "--outstanding", outstanding, 1, MAX_OUTSTANDING);
    for (int size : sizes) {
      Limits.check(line, "--size", size, 1, MAX_SIZE);
    }
    if (sides.side() == SideOptions.Side.SERVER && isWildcard(sides.address().host())) {
      throw new ParameterException(
          line,
          "--listen must name the address that clients reach, not all: BookKeeper sends it to"
              + " them");
    }
  }

  private static boolean isWildcard(String host) {
    return host.isEmpty() || host.equals("0.0.0.0") || host.equals("::");
  }
}

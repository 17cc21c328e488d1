// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.ChildJvm;
import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.Machine;
import io.talaria.cli.harness.Pair;
import io.talaria.cli.harness.Pinning;
import io.talaria.cli.harness.SizeConverter;
import io.talaria.workloads.run.FolderServer;
import io.talaria.workloads.run.Launch;
import io.talaria.workloads.run.Orders;
import io.talaria.workloads.run.RoadOptions;
import io.talaria.workloads.run.SideOptions;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
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
      "Write entries to ledgers of BookKeeper and read them again, at one bookie that does not wait"
          + " for its disk, and whose metadata a ZooKeeper server keeps.",
      "",
      "Without --server and --remote it starts both and a client on this machine, first on the JDK's"
          + " sockets, then on Talaria, and compares. With --plain it stays with the JDK's.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench bookkeeper",
      "  talaria bench bookkeeper --size 16,1K,64K --outstanding 32",
      "  talaria bench bookkeeper --server --address 10.1.0.2:2181",
      "  talaria bench bookkeeper --remote 10.1.0.2:2181",
      "",
      "Exit status: 0 all measured; 1 an operation failed, the server has gone, or a connection was"
          + " not accelerated; 2 wrong usage."
    })
public final class BenchBookKeeperCommand implements Subcommand {
  private static final int MOST_ENTRIES = 100_000_000;
  private static final int MOST_OUTSTANDING = 10_000;
  private static final int LONGEST_WARM_UP_S = 15;

  /** What a bookie takes in one frame is a little more. */
  private static final int LARGEST = 4 << 20;

  @Spec private CommandSpec spec;
  @Mixin private SideOptions sides;
  @Mixin private RoadOptions roads;

  @Option(
      names = {"-m", "--entries"},
      paramLabel = "N",
      defaultValue = "10000",
      description = "How many entries of each size. Default: ${DEFAULT-VALUE}.")
  private int entries;

  @Option(
      names = "--size",
      paramLabel = "SIZE",
      split = ",",
      converter = SizeConverter.class,
      defaultValue = "1K",
      description = "How long an entry is, in bytes, K or M; several by commas. Default: 1K.")
  private List<Integer> sizes;

  @Option(
      names = "--outstanding",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "How many writes or reads are under way at a time. Default: ${DEFAULT-VALUE}, one after"
              + " the other.")
  private int outstanding;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      defaultValue = "3",
      description =
          "How long to do the same without measuring first; up to three times as long if compilers"
              + " are busy. Default: ${DEFAULT-VALUE}.")
  private double warmUpSeconds;

  @Option(
      names = {"-l", "--live"},
      description = "Say every second how far it is.")
  private boolean live;

  @Option(
      names = "--no-pin",
      description = "Do not pin the JVMs (the server to core 0, the client to core 1).")
  private boolean noPin;

  /** Creates the command; picocli fills it. */
  public BenchBookKeeperCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    SideOptions.Side side = sides.side();
    check(side);
    Launch launch = roads.launch(Pinning.decide(!noPin));
    PrintWriter out = spec.commandLine().getOut();
    if (side == SideOptions.Side.SERVER) {
      FolderServer.serve(launch, BookKeeperJvm.class, sides.address(), out);
      return CommandLine.ExitCode.OK;
    }
    Machine machine = launch.machine();
    Map<Contender, LedgerResult> results =
        launch.results(
            side,
            contender -> measure(launch, contender, sides.remote()),
            contender -> locally(launch, contender));
    out.print(LedgerReport.text(machine, results));
    out.flush();
    return CommandLine.ExitCode.OK;
  }

  private void check(SideOptions.Side side) {
    CommandLine line = spec.commandLine();
    Limits.check(line, "--entries", entries, 1, MOST_ENTRIES);
    Limits.check(line, "--outstanding", outstanding, 1, MOST_OUTSTANDING);
    Limits.check(line, "--warm-up", warmUpSeconds, 0, LONGEST_WARM_UP_S);
    for (int size : sizes) {
      Limits.check(line, "--size", size, 1, LARGEST);
    }
    if (side == SideOptions.Side.SERVER && isWildcard(sides.address().host())) {
      throw new ParameterException(
          line,
          "--address must name the address that clients reach, not all: BookKeeper tells it to"
              + " them");
    }
  }

  private static boolean isWildcard(String host) {
    return host.isEmpty() || host.equals("0.0.0.0") || host.equals("::");
  }

  private LedgerResult locally(Launch launch, Contender contender)
      throws HarnessException, InterruptedException {
    try (FolderServer server = FolderServer.start(launch, BookKeeperJvm.class, contender)) {
      return measure(launch, contender, server.address());
    }
  }

  private LedgerResult measure(Launch launch, Contender contender, HostPort where)
      throws HarnessException, InterruptedException {
    PrintWriter err = spec.commandLine().getErr();
    err.println(contender.label() + ": writing and reading");
    err.flush();
    try (ChildJvm client =
        launch.start(
            "client", BookKeeperJvm.class, contender, launch.pinning().clientCore(), List.of())) {
      Orders.connect(
          client,
          where,
          new LedgerJob(sizes, entries, outstanding, Math.round(warmUpSeconds * 1_000)));
      LedgerResult result =
          Orders.result(
              client,
              LedgerResult.class,
              Orders.SILENCE,
              progress -> {
                if (live) {
                  err.println(contender.label() + ", " + progress.asText());
                  err.flush();
                }
              });
      Pair.requireAccelerated(contender, "client", result.roads(), Ledgers.CONNECTIONS);
      return result;
    }
  }
}

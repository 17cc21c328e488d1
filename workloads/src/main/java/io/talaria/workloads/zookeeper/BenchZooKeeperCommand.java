// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.Machine;
import io.talaria.workloads.run.FolderServer;
import io.talaria.workloads.run.Launch;
import io.talaria.workloads.run.RoadOptions;
import io.talaria.workloads.run.SideOptions;
import io.talaria.workloads.ycsb.Phase;
import io.talaria.workloads.ycsb.PhaseResult;
import io.talaria.workloads.ycsb.WorkloadFile;
import io.talaria.workloads.ycsb.WorkloadFile.WorkloadFileException;
import io.talaria.workloads.ycsb.YcsbOptions;
import io.talaria.workloads.ycsb.YcsbReport;
import io.talaria.workloads.ycsb.YcsbRun;
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

/** The command {@code talaria bench zookeeper}. */
@Command(
    name = "zookeeper",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Drive a ZooKeeper server by the Yahoo! Cloud Serving Benchmark: a node for each record, reads"
          + " only unless another workload is named.",
      "",
      "Without --server and --remote it starts server and client on this machine, first on the JDK's"
          + " sockets, then on Talaria, and compares. With --plain it stays with the JDK's.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench zookeeper",
      "  talaria bench zookeeper -t 3 -e zookeeper.txt --series 1   the mean of each millisecond",
      "  talaria bench zookeeper -w a --size 1K",
      "  talaria bench zookeeper --server --address 0.0.0.0:2181",
      "  talaria bench zookeeper --remote 10.1.0.2:2181",
      "",
      "Exit status: 0 all measured; 1 an operation failed, the server has gone, or a connection was"
          + " not accelerated; 2 wrong usage."
    })
public final class BenchZooKeeperCommand implements Subcommand {
  /** ZooKeeper takes a little less than 1 MiB in one message. */
  private static final int LARGEST = 1_000_000;

  @Spec private CommandSpec spec;
  @Mixin private SideOptions sides;
  @Mixin private RoadOptions roads;
  @Mixin private YcsbOptions ycsb;

  @Option(
      names = "--size",
      paramLabel = "SIZE",
      converter = io.talaria.cli.harness.SizeConverter.class,
      defaultValue = "16",
      description = "How long a record is, in bytes or K. Default: ${DEFAULT-VALUE}.")
  private int size;

  /** Creates the command; picocli fills it. */
  public BenchZooKeeperCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    SideOptions.Side side = sides.side();
    Map<String, String> workload = workload();
    List<Phase> phases = ycsb.phases();
    Launch launch = roads.launch(ycsb.pinning());
    PrintWriter out = spec.commandLine().getOut();
    if (side == SideOptions.Side.SERVER) {
      FolderServer.serve(launch, ZooKeeperJvm.class, sides.address(), out);
      return CommandLine.ExitCode.OK;
    }
    if (side == SideOptions.Side.BOTH && !phases.contains(Phase.LOAD)) {
      throw new ParameterException(
          spec.commandLine(),
          "--phase run needs a server that has been loaded: name it with --remote");
    }
    Machine machine = launch.machine();
    YcsbRun run =
        new YcsbRun(launch, ZooKeeperJvm.class, ycsb, workload, spec.commandLine().getErr());
    Map<Contender, Map<Phase, PhaseResult>> results =
        launch.results(
            side,
            contender -> run.on(contender, List.of(sides.remote())),
            contender -> locally(launch, contender, run));
    out.print(YcsbReport.text(machine, results));
    out.flush();
    return CommandLine.ExitCode.OK;
  }

  private static Map<Phase, PhaseResult> locally(Launch launch, Contender contender, YcsbRun run)
      throws HarnessException, InterruptedException {
    try (FolderServer server = FolderServer.start(launch, ZooKeeperJvm.class, contender)) {
      return run.on(contender, List.of(server.address()));
    }
  }

  private Map<String, String> workload() {
    CommandLine line = spec.commandLine();
    Limits.check(line, "--size", size, 1, LARGEST);
    Map<String, String> all =
        ycsb.workload(
            Map.of(),
            Map.of(WorkloadFile.FIELDS, "1", WorkloadFile.FIELD_LENGTH, Integer.toString(size)));
    try {
      if (WorkloadFile.scans(all)) {
        throw new ParameterException(
            line, "--workload: it scans, which ZooKeeper cannot; a, b, c, d and f do not");
      }
    } catch (WorkloadFileException e) {
      throw new ParameterException(line, "--workload: " + e.getMessage(), e);
    }
    return all;
  }
}

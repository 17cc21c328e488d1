// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import io.talaria.workloads.ycsb.Store;
import io.talaria.workloads.ycsb.WorkloadFile;
import io.talaria.workloads.ycsb.WorkloadFile.WorkloadFileException;
import io.talaria.workloads.ycsb.YcsbOptions;
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
      "Measure a ZooKeeper server with YCSB (Yahoo! Cloud Serving Benchmark), one node per"
          + " record. By default it only reads.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench zookeeper",
      "  talaria bench zookeeper --iterations 5 --json zookeeper.json",
      "  talaria bench zookeeper -t 3 --iterations 1 -e zookeeper.txt --series 1",
      "  talaria bench zookeeper -w a --size 1K",
      "  talaria bench zookeeper --listen 0.0.0.0:2181",
      "  talaria bench zookeeper --remote 10.1.0.2:2181",
      "",
      "Without --listen and --remote each iteration starts a new server and client on this"
          + " machine, in turn on the JDK's sockets and on Talaria. Results are medians over the"
          + " iterations, with their range. With --transport tcp it measures only the JDK's sockets.",
      "",
      "Exit status: 0 done; 1 an operation failed, the server stopped, or a connection was not"
          + " accelerated; 2 wrong usage."
    })
public final class BenchZooKeeperCommand implements Subcommand {
  /** ZooKeeper takes a little less than 1 MiB in one message. */
  private static final int MAX_SIZE = 1_000_000;

  @Spec private CommandSpec spec;
  @Mixin private YcsbOptions ycsb;

  @Option(
      names = "--size",
      paramLabel = "SIZE",
      converter = SizeConverter.class,
      defaultValue = "16",
      description = "Length of a record in bytes, or with K. Default: ${DEFAULT-VALUE}.")
  private int size;

  /** Creates the command; picocli fills it. */
  public BenchZooKeeperCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    Store store = new ZooKeeperStore();
    return ycsb.run(store, workload(store.name()));
  }

  private Map<String, String> workload(String store) {
    CommandLine line = spec.commandLine();
    Limits.check(line, "--size", size, 1, MAX_SIZE);
    Map<String, String> all =
        ycsb.workload(
            store,
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

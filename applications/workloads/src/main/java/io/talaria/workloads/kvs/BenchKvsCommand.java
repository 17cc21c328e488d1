// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import io.talaria.workloads.ycsb.Store;
import io.talaria.workloads.ycsb.WorkloadFile;
import io.talaria.workloads.ycsb.YcsbOptions;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench kvs}. */
@Command(
    name = "kvs",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Measure a key-value store over gRPC with YCSB (Yahoo! Cloud Serving Benchmark): its core"
          + " workloads, or a workload file.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench kvs                                1,000 records of 16 B",
      "  talaria bench kvs --fields 16 --field-length 1K  records of 16 KiB",
      "  talaria bench kvs -w a -t 4 -l --iterations 1 -e results.txt",
      "  talaria bench kvs --quick --json kvs.json",
      "  talaria bench kvs --listen 0.0.0.0:2998",
      "  talaria bench kvs --remote 10.1.0.2,10.1.0.3:3000 -p load",
      "  talaria bench kvs --remote 10.1.0.2,10.1.0.3:3000 -p run",
      "",
      "Without --listen and --remote each iteration starts new servers and a client on this"
          + " machine, in turn on the JDK's sockets and on Talaria. Results are medians over the"
          + " iterations, with their range. With --transport tcp it measures only the JDK's sockets.",
      "",
      "Exit status: 0 done; 1 an operation failed, a server stopped, or a connection was not"
          + " accelerated; 2 wrong usage."
    })
public final class BenchKvsCommand implements Subcommand {
  private static final int MAX_SERVERS = 64;
  private static final int MAX_FIELDS = 10_000;

  /** What gRPC takes in one message, but for the names. */
  private static final long MAX_RECORD = 4 << 20;

  @Spec private CommandSpec spec;
  @Mixin private YcsbOptions ycsb;

  @Option(
      names = "--servers",
      paramLabel = "N",
      description = "Number of servers to start on this machine. Default: 2.")
  private Integer servers;

  @Option(
      names = "--fields",
      paramLabel = "N",
      description = "Fields per record. Default: the fieldcount of the workload file, or 1.")
  private Integer fields;

  @Option(
      names = "--field-length",
      paramLabel = "SIZE",
      converter = SizeConverter.class,
      description =
          "Length of a field in bytes, or with K or M. Default: the fieldlength of the workload"
              + " file, or 16.")
  private Integer fieldLength;

  /** Creates the command; picocli fills it. */
  public BenchKvsCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    Store store = new KvsStore(ycsb.sides().here(servers, 2, MAX_SERVERS));
    return ycsb.run(store, workload(store.name()));
  }

  private Map<String, String> workload(String store) {
    CommandLine line = spec.commandLine();
    Map<String, String> options = new TreeMap<>();
    if (fields != null) {
      Limits.check(line, "--fields", fields, 1, MAX_FIELDS);
      options.put(WorkloadFile.FIELDS, fields.toString());
    }
    if (fieldLength != null) {
      options.put(WorkloadFile.FIELD_LENGTH, fieldLength.toString());
    }
    Map<String, String> all =
        ycsb.workload(
            store, Map.of(WorkloadFile.FIELDS, "1", WorkloadFile.FIELD_LENGTH, "16"), options);
    long record =
        Long.parseLong(all.get(WorkloadFile.FIELDS))
            * Long.parseLong(all.get(WorkloadFile.FIELD_LENGTH));
    if (record >= MAX_RECORD) {
      throw new ParameterException(
          line,
          String.format(
              Locale.ROOT,
              "a record of %,d bytes does not fit into a message of gRPC's, of %,d bytes",
              record,
              MAX_RECORD));
    }
    return all;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.compare.IterationOptions;
import io.talaria.bench.compare.SideOptions;
import io.talaria.bench.compare.WarmUpLength;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.workloads.ycsb.WorkloadFile.WorkloadFileException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of every benchmark that YCSB drives: a mixin of its command. */
public final class YcsbOptions {
  private static final int MAX_COUNT = 1_000_000_000;
  private static final int MAX_THREADS = 512;
  private static final int MAX_SERIES_MS = 3_600_000;
  private static final String DEFAULT_RECORDS = "1000";
  private static final String DEFAULT_OPERATIONS = "50000";
  private static final String QUICK_OPERATIONS = "5000";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = {"-w", "--workload"},
      paramLabel = "a-f|FILE",
      defaultValue = "c",
      description =
          "A core workload of YCSB (a to f), or a workload file. Default: ${DEFAULT-VALUE} (reads"
              + " only).")
  private String workload;

  @Option(
      names = {"-n", "--records"},
      paramLabel = "N",
      description = "Number of records. Default: the recordcount of the workload file, or 1000.")
  private Integer records;

  @Option(
      names = {"-o", "--operations"},
      paramLabel = "N",
      description =
          "Number of operations of all threads together. Default: the operationcount of the"
              + " workload file, or 50000, with --quick 5000.")
  private Integer operations;

  @Option(
      names = {"-p", "--phase"},
      paramLabel = "PHASE",
      defaultValue = "both",
      description =
          "load: insert the records into empty servers. run: run the workload. both: load, then"
              + " run. Default: ${DEFAULT-VALUE}.")
  private String phase;

  @Option(
      names = {"-t", "--threads"},
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Number of client threads, each with its own connections. Default: ${DEFAULT-VALUE}.")
  private int threads;

  @Option(
      names = {"-l", "--live"},
      description = "Print progress every second.")
  private boolean live;

  @Option(
      names = {"-e", "--export"},
      paramLabel = "FILE",
      description =
          "Also write YCSB's results: for FILE.txt to FILE-TRANSPORT-PHASE.txt, with its"
              + " histograms (HdrHistogram log) beside them.")
  private Path export;

  @Option(
      names = "--series",
      paramLabel = "MS",
      description =
          "With --export: write YCSB's time series instead of histograms: the mean latency of"
              + " every MS milliseconds.")
  private Integer seriesMs;

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description = "Set another YCSB property. Repeatable.")
  private Map<String, String> more = new LinkedHashMap<>();

  @Mixin private IterationOptions iterations;

  /** Creates the options; picocli fills them. */
  public YcsbOptions() {}

  /** Returns which side is wanted. */
  public SideOptions sides() {
    return iterations.sides();
  }

  /**
   * Returns the workload's properties.
   *
   * @param store the store's name
   * @param defaults what holds if neither the workload nor an option says otherwise
   * @param options what holds in any case
   * @throws ParameterException if an option or the workload is wrong
   */
  public Map<String, String> workload(
      String store, Map<String, String> defaults, Map<String, String> options) {
    check();
    String unknown = KnownKeys.unknown(more.keySet(), store);
    if (unknown != null) {
      throw new ParameterException(command.commandLine(), "--set: " + unknown);
    }
    Map<String, String> all = new TreeMap<>(defaults);
    all.putIfAbsent(WorkloadFile.RECORDS, DEFAULT_RECORDS);
    all.putIfAbsent(
        WorkloadFile.OPERATIONS, iterations.quick() ? QUICK_OPERATIONS : DEFAULT_OPERATIONS);
    try {
      all.putAll(WorkloadFile.read(workload, store));
      all.putAll(options);
      set(all, WorkloadFile.RECORDS, records);
      set(all, WorkloadFile.OPERATIONS, operations);
      all.putAll(more);
      WorkloadFile.check(all);
    } catch (WorkloadFileException e) {
      throw new ParameterException(command.commandLine(), "--workload: " + e.getMessage(), e);
    }
    return all;
  }

  private static void set(Map<String, String> all, String key, Integer value) {
    if (value != null) {
      all.put(key, value.toString());
    }
  }

  private void check() {
    CommandLine line = command.commandLine();
    if (records != null) {
      Limits.check(line, "--records", records, 1, MAX_COUNT);
    }
    if (operations != null) {
      Limits.check(line, "--operations", operations, 1, MAX_COUNT);
    }
    Limits.check(line, "--threads", threads, 1, MAX_THREADS);
    if (seriesMs != null) {
      Limits.check(line, "--series", seriesMs, 1, MAX_SERIES_MS);
      if (export == null) {
        throw new ParameterException(line, "--series needs --export FILE");
      }
    }
    if (export != null) {
      Path folder = export.toAbsolutePath().getParent();
      if (folder == null || !Files.isDirectory(folder)) {
        throw new ParameterException(line, "--export: there is no folder " + folder);
      }
      if (!Files.isWritable(folder)) {
        throw new ParameterException(line, "--export: no permission to write in " + folder);
      }
    }
  }

  /**
   * Returns the phases wanted, in their order.
   *
   * @throws ParameterException if there is no such phase
   */
  List<Phase> phases() {
    return switch (phase) {
      case "load" -> List.of(Phase.LOAD);
      case "run" -> List.of(Phase.RUN);
      case "both" -> List.of(Phase.LOAD, Phase.RUN);
      default ->
          throw new ParameterException(
              command.commandLine(), "--phase is load, run or both, not '" + phase + "'");
    };
  }

  /** Returns how many threads. */
  int threads() {
    return threads;
  }

  /** Returns how long to warm up. */
  WarmUpLength warmUp() {
    return iterations.warmUp();
  }

  /** Returns whether to say every second how far it is. */
  boolean live() {
    return live;
  }

  /** Returns where YCSB is to write its figures, or null. */
  Path export() {
    return export;
  }

  /** Returns the length of the steps of a time series in milliseconds, or null for histograms. */
  Integer seriesMs() {
    return seriesMs;
  }

  /**
   * Runs the benchmark as the options say, and prints what it found.
   *
   * @param store what is driven
   * @param workload the workload's properties
   * @return the exit status
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  public int run(Store store, Map<String, String> workload)
      throws HarnessException, InterruptedException {
    if (iterations.sides().side() == SideOptions.Side.BOTH && !phases().contains(Phase.LOAD)) {
      throw new ParameterException(
          command.commandLine(),
          "--phase run needs servers that have been loaded: name them with --remote");
    }
    return iterations.compare(new YcsbBenchmark(store, this, workload));
  }
}

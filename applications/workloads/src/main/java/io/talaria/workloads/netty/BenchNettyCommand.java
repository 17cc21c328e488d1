// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.netty;

import io.talaria.bench.compare.BenchOptions;
import io.talaria.bench.compare.EventLoopOption;
import io.talaria.bench.netty.NettyClient;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench netty}. */
@Command(
    name = "netty",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Compare Netty on the JDK's sockets and on Talaria: throughput and ping-pong with 16 B, 1"
          + " KiB and 64 KiB, and round trips on 1, 8, 64 and 512 connections (scaling). Fails if"
          + " a connection was not accelerated.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench netty --quick",
      "  talaria bench netty throughput -l 16,64K -t 64 --iterations 5 --json out.json",
      "  talaria bench netty ping-pong -c 1,16 --event-loops 2 --no-pin",
      "  talaria bench netty scaling --transport ucx",
      "  talaria bench netty --listen",
      "  talaria bench netty ping-pong --remote 10.1.0.2 --transport tcp",
      "",
      "Every case runs in new JVMs; iterations alternate between the two. Results are medians"
          + " over the iterations, with their range. With --remote it measures only the chosen"
          + " transport, against a server that runs already.",
      "",
      "Exit status: 0 done, 1 a run failed or was not accelerated, 2 wrong usage."
    })
public final class BenchNettyCommand implements Subcommand {
  private static final int MAX_CONNECTIONS = 10_000;
  private static final int MAX_FLUSH = 1_000_000;
  private static final int MAX_IN_FLIGHT = 1_024;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "PATTERN",
      description = "What to measure: ${COMPLETION-CANDIDATES}. Default: all.")
  private List<NettyPattern> patterns = new ArrayList<>();

  @Option(
      names = {"-t", "--flush"},
      paramLabel = "N",
      description =
          "Messages per flush in throughput. Default: 64 up to 256 B, 16 up to 8 KiB, 4 for"
              + " larger ones.")
  private Integer flush;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Messages in flight on each connection in ping-pong and scaling. Default:"
              + " ${DEFAULT-VALUE}.")
  private int inFlight;

  @Mixin private BenchOptions bench;
  @Mixin private EventLoopOption eventLoops;

  /** Creates the command; picocli fills it. */
  public BenchNettyCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    Limits.check(spec.commandLine(), "--in-flight", inFlight, 1, MAX_IN_FLIGHT);
    if (flush != null) {
      Limits.check(spec.commandLine(), "--flush", flush, 1, MAX_FLUSH);
    }
    return bench.run(NettyJvm.class, "talaria-bench-netty-2", trials());
  }

  private List<NettyTrial> trials() {
    List<NettyTrial> trials = new ArrayList<>();
    for (NettyPattern pattern : patterns.isEmpty() ? List.of(NettyPattern.values()) : patterns) {
      for (int size : bench.sizes(pattern.sizes())) {
        for (int number : bench.connections(pattern.connections(), MAX_CONNECTIONS)) {
          trials.add(
              new NettyTrial(pattern, size, number, inFlight, flush(size), eventLoops.number()));
        }
      }
    }
    return trials;
  }

  private int flush(int sizeBytes) {
    return flush != null ? flush : NettyClient.usualFlush(sizeBytes);
  }
}

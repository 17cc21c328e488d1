// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.talaria.bench.compare.BenchOptions;
import io.talaria.bench.compare.EventLoopOption;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench grpc}. */
@Command(
    name = "grpc",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Compare gRPC on the JDK's sockets and on Talaria: unary calls and streams, with blocking"
          + " and asynchronous clients. gRPC uses Netty's NIO transport, with --epoll its native one as well. Fails if a connection was"
          + " not accelerated.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench grpc --quick",
      "  talaria bench grpc --call unary --client blocking -l 16,16K -c 1,8",
      "  talaria bench grpc --client async --in-flight 64 --json grpc.json",
      "  talaria bench grpc --transport tcp --epoll",
      "  talaria bench grpc --listen",
      "  talaria bench grpc --remote 10.1.0.2 --transport tcp",
      "",
      "Every case runs in new JVMs; iterations alternate between the two. Results are medians"
          + " over the iterations, with their range. With --remote it measures only the chosen"
          + " transport, against a server that runs already.",
      "",
      "Exit status: 0 done, 1 a run failed or was not accelerated, 2 wrong usage."
    })
public final class BenchGrpcCommand implements Subcommand {
  private static final int MAX_CONNECTIONS = 1_024;
  private static final int MAX_IN_FLIGHT = 10_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--call",
      split = ",",
      paramLabel = "KIND",
      description = "Kinds of calls: ${COMPLETION-CANDIDATES}. Default: both.")
  private List<GrpcTrial.Call> calls = new ArrayList<>();

  @Option(
      names = "--client",
      split = ",",
      paramLabel = "KIND",
      description =
          "Kinds of clients: ${COMPLETION-CANDIDATES}. A blocking client has a thread per"
              + " connection. Default: both.")
  private List<GrpcTrial.Client> clients = new ArrayList<>();

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      defaultValue = "16",
      description =
          "Calls, or messages of a stream, that an asynchronous client has in flight on each"
              + " connection. Default: ${DEFAULT-VALUE}.")
  private int inFlight;

  @Option(
      names = "--epoll",
      description =
          "Measure Netty's native transport epoll as well, which gRPC uses without the agent and"
              + " leaves with it. Both sides must be on this machine.")
  private boolean epoll;

  @Mixin private BenchOptions bench;
  @Mixin private EventLoopOption eventLoops;

  /** Creates the command; picocli fills it. */
  public BenchGrpcCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    Limits.check(spec.commandLine(), "--in-flight", inFlight, 1, MAX_IN_FLIGHT);
    if (epoll) {
      bench.sides().requireBoth();
    }
    return bench.run(
        GrpcJvm.class,
        "talaria-bench-grpc-2",
        trials(),
        epoll ? List.of(Implementation.NETTY_EPOLL) : List.of());
  }

  private List<GrpcTrial> trials() {
    List<GrpcTrial> trials = new ArrayList<>();
    for (GrpcTrial.Call call : orAll(calls, GrpcTrial.Call.values())) {
      for (GrpcTrial.Client client : orAll(clients, GrpcTrial.Client.values())) {
        for (int size : bench.sizes(List.of(16))) {
          for (int number : bench.connections(List.of(1), MAX_CONNECTIONS)) {
            trials.add(new GrpcTrial(call, client, size, number, inFlight, eventLoops.number()));
          }
        }
      }
    }
    return trials;
  }

  private static <E> List<E> orAll(List<E> chosen, E[] all) {
    return chosen.isEmpty() ? List.of(all) : chosen;
  }
}

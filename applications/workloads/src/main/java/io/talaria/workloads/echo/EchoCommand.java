// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

import io.talaria.bench.compare.Blame;
import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.SideOptions;
import io.talaria.bench.compare.TransportOptions;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code talaria example echo}. */
@Command(
    name = "echo",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Send the lines of standard input to a server, by Netty or gRPC, and print the responses.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria example echo",
      "  talaria example echo --grpc",
      "  echo hello | talaria example echo",
      "  talaria example echo --listen 127.0.0.1:4000",
      "  talaria example echo --remote 127.0.0.1:4000",
      "",
      "Without --listen and --remote it runs both sides, in two JVMs. Ctrl-D (end of input) ends"
          + " it.",
      "",
      "Exit status: 0 end of input, 1 the server stopped or the connection was not accelerated, 2"
          + " wrong usage."
    })
public final class EchoCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private SideOptions sides;

  @Option(names = "--grpc", description = "Use gRPC on both sides. Default: Netty.")
  private boolean grpc;

  @Mixin private TransportOptions transports;

  /** Creates the command; picocli fills it. */
  public EchoCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    SideOptions.Side side = sides.side();
    Launch launch = transports.launch(Pinning.decide(false));
    return switch (side) {
      case SERVER -> {
        Orders.serve(launch, EchoJvm.class, sides.address(), job(), spec.commandLine().getOut());
        yield CommandLine.ExitCode.OK;
      }
      case CLIENT -> {
        try (ChildJvm client = launch.client(EchoJvm.class)) {
          yield talk(launch, client, sides.remote());
        }
      }
      case BOTH -> {
        try (Pair pair = launch.pair(EchoJvm.class, launch.implementation())) {
          HostPort where = Orders.listen(pair.server(), Orders.local(), job());
          yield Blame.servers(List.of(pair.server()), () -> talk(launch, pair.client(), where));
        }
      }
    };
  }

  private EchoJob job() {
    return new EchoJob(grpc);
  }

  private int talk(Launch launch, ChildJvm client, HostPort where)
      throws HarnessException, InterruptedException {
    Orders.connect(client, where, job());
    EchoResult ready = client.await(EchoJvm.READY, EchoResult.class, Orders.SILENCE);
    Pair.requireAccelerated(launch.implementation(), "client", ready.transports(), 1);
    PrintWriter err = spec.commandLine().getErr();
    err.println(
        "connected to "
            + where
            + (grpc ? " by gRPC, on " : " by Netty, on ")
            + launch.describe(ready.transports())
            + "; each line comes back, Ctrl-D ends it");
    err.flush();
    LineFeeder.start(client);
    PrintWriter out = spec.commandLine().getOut();
    while (true) {
      ChildJvm.Event event = client.next(EchoJvm.ANSWER, Orders.FOR_EVER);
      if (!event.name().equals(EchoJvm.ANSWER)) {
        EchoResult result = event.as(EchoResult.class);
        Pair.requireAccelerated(launch.implementation(), "client", result.transports(), 1);
        return CommandLine.ExitCode.OK;
      }
      out.println(event.as(String.class));
      out.flush();
    }
  }
}

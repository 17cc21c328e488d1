// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

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
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.Progress;
import io.talaria.cli.harness.Units;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code talaria example counter}. */
@Command(
    name = "counter",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Two programs send increasing numbers to each other on one blocking channel, both ways at"
          + " once, one write per number, and check what they receive.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria example counter",
      "  talaria example counter --transport tcp -m 10000000",
      "  talaria example counter --listen",
      "  talaria example counter --remote 127.0.0.1",
      "",
      "Without --listen and --remote it runs both sides, in two JVMs.",
      "",
      "Exit status: 0 all numbers correct; 1 a wrong number, a lost connection, or not"
          + " accelerated; 2 wrong usage."
    })
public final class CounterCommand implements Callable<Integer> {
  private static final double MAX_NUMBERS = 1e12;

  @Spec private CommandSpec spec;
  @Mixin private SideOptions sides;
  @Mixin private TransportOptions transports;

  @Option(
      names = {"-m", "--messages"},
      paramLabel = "N",
      defaultValue = "1000000",
      description = "The number to count to. Default: ${DEFAULT-VALUE}.")
  private long numbers;

  /** Creates the command; picocli fills it. */
  public CounterCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    SideOptions.Side side = sides.side();
    Limits.check(spec.commandLine(), "--messages", numbers, 1, MAX_NUMBERS);
    Launch launch = transports.launch(Pinning.decide(false));
    PrintWriter out = spec.commandLine().getOut();
    return switch (side) {
      case SERVER -> {
        Orders.serve(launch, CounterJvm.class, sides.address(), new CounterJob(0), out);
        yield CommandLine.ExitCode.OK;
      }
      case CLIENT -> {
        try (ChildJvm client = launch.client(CounterJvm.class)) {
          yield count(launch, client, sides.remote());
        }
      }
      case BOTH -> {
        try (Pair pair = launch.pair(CounterJvm.class, launch.implementation())) {
          HostPort where = Orders.listen(pair.server(), Orders.local(), new CounterJob(0));
          yield Blame.servers(List.of(pair.server()), () -> count(launch, pair.client(), where));
        }
      }
    };
  }

  private int count(Launch launch, ChildJvm client, HostPort where)
      throws HarnessException, InterruptedException {
    PrintWriter err = spec.commandLine().getErr();
    boolean shown = Progress.Form.wanted() != Progress.Form.NONE;
    Orders.connect(client, where, new CounterJob(numbers));
    CounterResult result =
        Orders.result(
            client,
            CounterResult.class,
            Orders.SILENCE,
            count -> {
              if (shown) {
                err.println(String.format(Locale.ROOT, "%,d of %,d", count.asLong(), numbers));
              }
            });
    Pair.requireAccelerated(launch.implementation(), "client", result.transports(), 1);
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        Locale.ROOT,
        "%,d numbers each way, all in order, in %s: %s each way, on %s%n",
        result.numbers(),
        Units.time((double) result.elapsedNs()),
        Units.rate((double) result.numbers() * 1e9 / result.elapsedNs()),
        launch.describe(result.transports()));
    out.flush();
    return CommandLine.ExitCode.OK;
  }
}

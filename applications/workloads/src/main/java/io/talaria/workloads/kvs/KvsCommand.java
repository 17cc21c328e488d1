// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.SideOptions;
import io.talaria.bench.compare.TransportOptions;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.run.BoundedLines;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code talaria example kvs}. */
@Command(
    name = "kvs",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "A key-value store over gRPC: a server that keeps records in memory, and a shell that"
          + " inserts, updates, gets, scans and deletes them, with commands from standard input.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria example kvs                  then type help",
      "  talaria example kvs --listen",
      "  talaria example kvs --transport tcp --listen 127.0.0.1:3000",
      "  talaria example kvs --remote 127.0.0.1",
      "  talaria example kvs --remote 10.1.0.2:2998,10.1.0.3:2998 < lines.txt",
      "",
      "Without --listen and --remote it runs servers and a shell on this machine. With several"
          + " servers the hash of the key selects one; all clients must name them in the same"
          + " order.",
      "",
      "Exit status: 0 every command succeeded; 1 a command failed (an interactive shell continues"
          + " and ends with 0), no server responds, or a connection was not accelerated; 2 wrong"
          + " usage."
    })
public final class KvsCommand implements Callable<Integer> {
  private static final int MAX_SERVERS = 64;

  /** More than what a message of gRPC's holds, about which the server complains. */
  private static final int MAX_LINE_BYTES = 8 << 20;

  @Spec private CommandSpec spec;
  @Mixin private SideOptions sides;
  @Mixin private TransportOptions transports;

  @Option(
      names = "--servers",
      paramLabel = "N",
      description = "Number of servers to start on this machine. Default: 1.")
  private Integer servers;

  /** Creates the command; picocli fills it. */
  public KvsCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException, IOException {
    SideOptions.Side side = sides.side();
    int here = sides.here(servers, 1, MAX_SERVERS);
    Launch launch = transports.launch(Pinning.decide(false));
    PrintWriter out = spec.commandLine().getOut();
    return switch (side) {
      case SERVER -> {
        Orders.serve(launch, KvsJvm.class, sides.address(), new KvsJob(List.of()), out);
        yield CommandLine.ExitCode.OK;
      }
      case CLIENT -> shell(launch, sides.remotes(true));
      case BOTH -> {
        try (KvsServers started =
            KvsServers.start(launch, KvsJvm.class, launch.implementation(), here)) {
          yield shell(launch, started.addresses());
        }
      }
    };
  }

  private int shell(Launch launch, List<HostPort> where)
      throws HarnessException, InterruptedException, IOException {
    try (ChildJvm jvm = launch.client(KvsJvm.class)) {
      Orders.connect(jvm, where.getFirst(), new KvsJob(where));
      TransportProbe.Transports taken =
          jvm.await(KvsJvm.READY, TransportProbe.Transports.class, Orders.SILENCE);
      Pair.requireAccelerated(launch.implementation(), "shell", taken, where.size());
      return converse(jvm);
    }
  }

  @SuppressWarnings("SystemConsoleNull") // Seen: there is none where nothing is a terminal.
  private static boolean onTerminal() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }

  private static Shell.Answer answer(ChildJvm jvm, String line)
      throws HarnessException, InterruptedException {
    if (line.length() > MAX_LINE_BYTES) {
      return Shell.Answer.error(
          String.format(Locale.ROOT, "a line has at most %,d characters", MAX_LINE_BYTES));
    }
    jvm.send(line);
    return jvm.await(KvsJvm.ANSWER, Shell.Answer.class, Orders.SILENCE);
  }

  private int converse(ChildJvm jvm) throws HarnessException, InterruptedException, IOException {
    boolean terminal = onTerminal();
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    int status = CommandLine.ExitCode.OK;
    BoundedLines in =
        new BoundedLines(
            new InputStreamReader(System.in, Charset.defaultCharset()), MAX_LINE_BYTES);
    while (true) {
      if (terminal) {
        out.print("kvs> ");
        out.flush();
      }
      String line = in.next();
      if (line == null) {
        return status;
      }
      Shell.Answer answer = answer(jvm, line);
      if (answer.end()) {
        return status;
      }
      if (!answer.done()) {
        err.println("error: " + answer.text());
        err.flush();
        status = terminal ? status : CommandLine.ExitCode.SOFTWARE;
      } else if (!answer.text().isEmpty()) {
        out.println(answer.text());
        out.flush();
      }
    }
  }
}

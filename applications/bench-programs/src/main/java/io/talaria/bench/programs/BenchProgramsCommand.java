// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.programs;

import io.talaria.bench.compare.BenchOptions;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.programs.Catalogue;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code talaria bench programs}. */
@Command(
    name = "programs",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Compare unmodified servers and clients of other projects on the JDK's sockets and on"
          + " Talaria, by round trips. Fails if a connection was not accelerated.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench programs --quick",
      "  talaria bench programs hazelcast vertx --connections 1,4 --json programs.json",
      "  talaria bench programs artemis --epoll --on-tcp --warm-up 0.1 --seconds 10",
      "  talaria bench programs --no-pin --busy 2 --iterations 5",
      "",
      "A round trip is a put and a get of a map (hazelcast), an upsert and a query (h2), a set"
          + " and a get (jedis, lettuce), sending a message to a queue and receiving it (activemq,"
          + " artemis), an HTTP request (grizzly, httpcomponents, tomcat, undertow, vertx), or an"
          + " echo (jgroups, mina, pekko, websocket).",
      "",
      "Every case runs in new JVMs; iterations alternate between the two. Results are medians"
          + " over the iterations, with their range. Netty uses its NIO transport; with --epoll its"
          + " native one is measured as well, which artemis for one uses without the agent.",
      "",
      "Exit status: 0 done, 1 a run failed or was not accelerated, 2 wrong usage."
    })
public final class BenchProgramsCommand implements Subcommand {
  private static final int MAX_CONNECTIONS = 64;

  @Parameters(
      arity = "0..*",
      paramLabel = "PROGRAM",
      description =
          "Programs to run: ${COMPLETION-CANDIDATES}. Default: hazelcast, vertx, tomcat, artemis"
              + " and h2.")
  private List<Catalogue> programs = new ArrayList<>();

  @Option(
      names = "--epoll",
      description =
          "Measure the JVMs with Netty's native transport epoll as well. A program that does not"
              + " use it is measured as on the JDK's sockets once more.")
  private boolean epoll;

  @Mixin private BenchOptions bench;

  /** Creates the command; picocli fills it. */
  public BenchProgramsCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    bench.sides().requireBoth();
    return bench.run(
        ProgramsJvm.class,
        "talaria-bench-programs-2",
        trials(),
        epoll ? List.of(Implementation.NETTY_EPOLL) : List.of());
  }

  private List<ProgramTrial> trials() {
    List<ProgramTrial> trials = new ArrayList<>();
    for (Catalogue program : chosen()) {
      for (int size : bench.sizes(List.of(16))) {
        for (int number : bench.connections(List.of(1), MAX_CONNECTIONS)) {
          trials.add(new ProgramTrial(program, size, number));
        }
      }
    }
    return trials;
  }

  private List<Catalogue> chosen() {
    return programs.isEmpty()
        ? List.of(
            Catalogue.HAZELCAST, Catalogue.VERTX, Catalogue.TOMCAT, Catalogue.ARTEMIS, Catalogue.H2)
        : programs;
  }
}

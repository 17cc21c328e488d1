// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.programs;

import io.talaria.bench.compare.BenchOptions;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.programs.Catalogue;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The command {@code talaria bench programs}. */
@Command(
    name = "programs",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Servers and clients of other projects, unmodified, on the JDK's sockets and on Talaria: a"
          + " client hands over a message and has it back, one after the other. That is a put and a"
          + " get of a map for hazelcast, an upsert and a query for h2, a set and a get for jedis"
          + " and lettuce, a message to a queue and its receipt for activemq and artemis, a request"
          + " over HTTP for grizzly, tomcat, undertow and vertx, and an echo for jgroups, mina and"
          + " pekko.",
      "",
      "Every case runs in new JVMs on this machine, in iterations that alternate between the two; the run"
          + " fails if a connection of Talaria's was not accelerated. Netty is on NIO on both, as"
          + " its native transports are left out. Shown are medians over the iterations with their"
          + " range.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench programs --quick",
      "  talaria bench programs hazelcast vertx --connections 1,4 --json programs.json",
      "  talaria bench programs --no-pin --busy 2 --iterations 5",
      "",
      "Exit status: 0 done, 1 a run failed or was not accelerated, 2 wrong usage."
    })
public final class BenchProgramsCommand implements Subcommand {
  private static final int MAX_CONNECTIONS = 64;

  @Parameters(
      arity = "0..*",
      paramLabel = "PROGRAM",
      description =
          "Which: ${COMPLETION-CANDIDATES}. Default: hazelcast, vertx, tomcat, artemis and h2.")
  private List<Catalogue> programs = new ArrayList<>();

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
    return bench.run(ProgramsJvm.class, "talaria-bench-programs-2", trials());
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

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.kafka;

import io.talaria.bench.compare.BenchOptions;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench kafka}. */
@Command(
    name = "kafka",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Compare a Kafka broker on the JDK's sockets and on Talaria: a producer with default"
          + " settings, and a consumer of existing records, of 100 B and 1 KiB. Fails if a"
          + " connection was not accelerated.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench kafka --quick",
      "  talaria bench kafka produce -l 100 --iterations 5 --json kafka.json",
      "  talaria bench kafka --no-pin --busy 2",
      "",
      "There is one topic with one partition. The broker does not wait for its disk, which is"
          + " Kafka's default. Every case runs in new JVMs; iterations alternate between the two."
          + " Results are medians over the iterations, with their range.",
      "",
      "Exit status: 0 done, 1 a run failed or was not accelerated, 2 wrong usage."
    })
public final class BenchKafkaCommand implements Subcommand {
  /** A broker takes a little more in one batch. */
  private static final int MAX_SIZE = 1_000_000;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "PATTERN",
      description = "What to measure: ${COMPLETION-CANDIDATES}. Default: both.")
  private List<KafkaTrial.Work> works = new ArrayList<>();

  @Mixin private BenchOptions bench;

  /** Creates the command; picocli fills it. */
  public BenchKafkaCommand() {}

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    bench.sides().requireBoth();
    bench.connections(List.of(1), 1);
    return bench.run(KafkaJvm.class, "talaria-bench-kafka-2", trials());
  }

  private List<KafkaTrial> trials() {
    List<KafkaTrial> trials = new ArrayList<>();
    List<KafkaTrial.Work> chosen = works.isEmpty() ? List.of(KafkaTrial.Work.values()) : works;
    for (KafkaTrial.Work work : chosen) {
      for (int size : bench.sizes(List.of(100, 1 << 10))) {
        Limits.check(spec.commandLine(), "--length", size, 1, MAX_SIZE);
        trials.add(new KafkaTrial(work, size));
      }
    }
    return trials;
  }
}

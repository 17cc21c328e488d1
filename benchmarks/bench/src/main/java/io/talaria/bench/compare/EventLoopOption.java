// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.cli.harness.Limits;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option of benchmarks whose sides have event loops of Netty: a mixin. */
public final class EventLoopOption {
  private static final int MAX_EVENT_LOOPS = 1_024;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--event-loops",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Event loops of each side; with --listen or --remote, of that side. For more than one"
              + " use --no-pin. Default: ${DEFAULT-VALUE}.")
  private int eventLoops;

  /** Creates the option; picocli fills it. */
  public EventLoopOption() {}

  /**
   * Returns how many event loops this side has.
   *
   * @throws picocli.CommandLine.ParameterException if they are too many or too few
   */
  public int number() {
    Limits.check(command.commandLine(), "--event-loops", eventLoops, 1, MAX_EVENT_LOOPS);
    return eventLoops;
  }
}

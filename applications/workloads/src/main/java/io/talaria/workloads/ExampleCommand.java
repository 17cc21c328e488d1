// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads;

import io.talaria.cli.Subcommand;
import io.talaria.workloads.counter.CounterCommand;
import io.talaria.workloads.echo.EchoCommand;
import io.talaria.workloads.kvs.KvsCommand;
import io.talaria.workloads.messages.MessagesCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria example}. */
@Command(
    name = "example",
    description = "Small example programs, on the JDK's sockets or on Talaria.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "NAME",
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria example counter",
      "  talaria example echo --grpc",
      "",
      "talaria example NAME --help describes an example and its options."
    },
    subcommands = {
      CounterCommand.class,
      EchoCommand.class,
      KvsCommand.class,
      MessagesCommand.class
    })
public final class ExampleCommand implements Subcommand {
  @Spec private CommandSpec spec;

  /** Creates the command; picocli fills it. */
  public ExampleCommand() {}

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "which example?");
  }
}

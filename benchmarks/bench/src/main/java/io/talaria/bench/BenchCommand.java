// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench;

import io.talaria.bench.sockets.BenchSocketsCommand;
import io.talaria.bench.ucx.BenchUcxCommand;
import io.talaria.cli.Subcommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench}, to which other modules may add theirs. */
@Command(
    name = "bench",
    description = "Benchmarks: compare Talaria with the JDK's sockets, UCX, MPI and others.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench sockets --quick",
      "  talaria bench netty ping-pong --iterations 5 --json netty.json",
      "",
      "talaria bench COMMAND --help describes a command and its options."
    },
    subcommands = {BenchSocketsCommand.class, BenchUcxCommand.class})
public final class BenchCommand implements Subcommand {
  @Spec private CommandSpec spec;

  /** Creates the command; picocli fills it. */
  public BenchCommand() {}

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }
}

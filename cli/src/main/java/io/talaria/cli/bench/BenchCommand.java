// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.bench;

import io.talaria.cli.Subcommand;
import io.talaria.cli.bench.ucx.BenchUcxCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench}. */
@Command(
    name = "bench",
    description = "Measure and compare.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {BenchSocketsCommand.class, BenchUcxCommand.class})
public final class BenchCommand implements Subcommand {
  @Spec private CommandSpec spec;

  /** Creates the command; picocli fills it. */
  public BenchCommand() {}

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Missing required subcommand");
  }
}

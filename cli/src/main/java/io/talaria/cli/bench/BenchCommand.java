// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.bench;

import io.talaria.cli.bench.ucx.BenchUcxCommand;
import picocli.CommandLine.Command;

/** The command {@code talaria bench}. */
@Command(
    name = "bench",
    description = "Measure and compare.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {BenchSocketsCommand.class, BenchUcxCommand.class})
public final class BenchCommand {
  /** Creates the command; picocli fills it. */
  public BenchCommand() {}
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.cli.harness.ExitStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code talaria ports reset}. */
@Command(
    name = "reset",
    mixinStandardHelpOptions = true,
    description = {
      "Sets the counters of ports of the InfiniBand fabric to 0, for everybody who looks at them."
          + " That is what a counter that is stuck needs. The kernel has no way to reset those of"
          + " this host in /sys; this host's InfiniBand ports are reset as ports of the fabric.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:All are reset.",
      "1:One is not.",
      "2:Wrong usage, or no --yes.",
      "69:The fabric cannot be asked, or nobody has that name."
    },
    footer = {
      "",
      "Examples:",
      "  talaria ports reset --yes Switch1/3       one port",
      "  talaria ports reset --yes Switch1 node17  all ports of two nodes",
      "  talaria ports reset --yes --everything    all ports of the fabric that have a link"
    })
public final class ResetCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private FabricChoice fabric = new FabricChoice();

  @Parameters(paramLabel = "NAME", description = "Nodes, or ports of them as NODE/NUMBER.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--everything", description = "All ports that have a link.")
  private boolean everything;

  @Option(names = "--yes", description = "Really do it.")
  private boolean yes;

  /** Creates the command; picocli fills it in. */
  public ResetCommand() {}

  @Override
  public Integer call() throws Exception {
    if (names.isEmpty() != everything) {
      throw new ParameterException(
          spec.commandLine(), "reset which ports? Name nodes or ports, or say --everything");
    }
    if (!yes) {
      throw new ParameterException(
          spec.commandLine(),
          "reset changes counters that others may watch, too: say --yes if that is wanted");
    }
    if (Runtime.version().feature() < 25) {
      spec.commandLine().getErr().println("talaria: " + PortsCommand.tooOld());
      return ExitStatus.MISSING;
    }
    return PortsRun.reset(spec.commandLine(), fabric, names);
  }
}

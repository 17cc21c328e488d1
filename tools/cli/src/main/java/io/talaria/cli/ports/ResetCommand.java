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
      "Reset the counters of ports of the InfiniBand fabric to 0, for all programs that read"
          + " them. A stuck counter counts again only after a reset. The kernel cannot reset"
          + " counters in /sys; reset InfiniBand ports of this host as ports of the fabric.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:All ports were reset.",
      "1:A port could not be reset.",
      "2:Wrong usage, or --yes is missing.",
      "69:The fabric cannot be queried, there is no port of that name, or Java is older than 25."
    },
    footer = {
      "",
      "Examples:",
      "  talaria ports reset --yes Switch1/3       one port",
      "  talaria ports reset --yes Switch1 node17  all ports of two nodes",
      "  talaria ports reset --yes --everything    all ports of the fabric with a link"
    })
public final class ResetCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private FabricChoice fabric = new FabricChoice();

  @Parameters(paramLabel = "NAME", description = "Nodes, or one of their ports as NODE/NUMBER.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--everything", description = "Reset all ports that have a link.")
  private boolean everything;

  @Option(names = "--yes", description = "Confirm the reset; required.")
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

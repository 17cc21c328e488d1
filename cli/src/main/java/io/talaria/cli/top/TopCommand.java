// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import io.talaria.cli.harness.ExitStatus;
import io.talaria.cli.ports.FabricChoice;
import io.talaria.cli.ports.PortsCommand;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code talaria top}. The monitor, which needs Java 25, is named in {@link TopRun} alone. */
@Command(
    name = "top",
    mixinStandardHelpOptions = true,
    description = {
      "Ports and their rates in a live view: all in a table, up to four side by side with"
          + " the last minute, the fabric around this host, and the accelerated connections as ss"
          + " shows them. Nothing is changed or reset.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:Left by q.",
      "1:Failed.",
      "2:Wrong usage.",
      "69:This needs Java 25.",
      "130:Interrupted by Ctrl-C."
    },
    footerHeading = "%nKeys:%n",
    footer = {
      "  1 2 3 4      ports, side by side, fabric, connections",
      "  arrows       move; space chooses a port, enter shows the chosen side by side",
      "  s u e        order; bits or bytes; only ports with errors",
      "  + - p        slower, faster, pause",
      "  z r          count errors from now on; look for new ports",
      "  h q          help; leave",
      "",
      "Without a terminal, or on a dumb one, it prints what talaria ports --watch prints. With"
          + " NO_COLOR set there are no colours.",
      "",
      "Examples:",
      "  talaria top                      this host",
      "  talaria top --watch 0.5 --screen side",
      "  talaria top --fabric             the fabric, too, also where no port is InfiniBand's",
      "  talaria top --screen connections what is accelerated, refreshed"
    })
public final class TopCommand implements Callable<Integer> {
  private static final int JAVA = 25;
  private static final double MIN_S = 0.2;
  private static final double MAX_S = 10;

  @Spec private CommandSpec spec;

  @Mixin private FabricChoice fabric = new FabricChoice();

  @Option(
      names = "--fabric",
      description =
          "Ask the fabric. Without this it is asked if a port of this host is InfiniBand's.")
  private boolean ofFabric;

  @Option(
      names = {"-a", "--all"},
      description = "Loopback, dummies, tunnels and unused interfaces, too.")
  private boolean all;

  @Option(
      names = {"-w", "--watch", "-i", "--interval"},
      paramLabel = "SECONDS",
      defaultValue = "1",
      description = "How often to look: 0.2, 0.5, 1, 2, 5 or 10 (default: 1).")
  private double seconds;

  @Option(
      names = "--screen",
      paramLabel = "NAME",
      defaultValue = "ports",
      description = "What to begin with: ports, side, fabric or connections (default: ports).")
  private String screen;

  @Option(
      names = "--sys",
      paramLabel = "DIR",
      defaultValue = "/sys",
      description = "What stands for /sys (default: /sys).")
  private Path sys;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The run-time directory of the processes, as in talaria ss.")
  private Path dir;

  /** Creates the command; picocli fills it in. */
  public TopCommand() {}

  /** What the options ask for, checked. */
  record Wishes(boolean fabric, boolean all, double seconds, char screen, Path sys, Path dir) {}

  @Override
  public Integer call() throws Exception {
    if (!(seconds >= MIN_S && seconds <= MAX_S)) {
      throw bad("--watch " + seconds + " is not within 0.2 and 10");
    }
    char key =
        switch (screen.toLowerCase(Locale.ROOT)) {
          case "ports" -> '1';
          case "side" -> '2';
          case "fabric" -> '3';
          case "connections" -> '4';
          default ->
              throw bad("--screen " + screen + " is none of ports, side, fabric, connections");
        };
    if (Runtime.version().feature() < JAVA) {
      spec.commandLine().getErr().println("talaria: " + PortsCommand.tooOld());
      return ExitStatus.MISSING;
    }
    return TopRun.run(
        spec.commandLine(), new Wishes(ofFabric, all, seconds, key, sys, dir), fabric);
  }

  private ParameterException bad(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}

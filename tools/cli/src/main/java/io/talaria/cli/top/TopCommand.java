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
      "Show ports and their rates in a live view: a table of all ports, up to four ports side by"
          + " side with the last minute, the fabric, and the accelerated connections. It changes"
          + " nothing.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:Quit with q.",
      "1:Failed.",
      "2:Wrong usage.",
      "69:Java is older than 25.",
      "130:Interrupted by Ctrl-C."
    },
    footerHeading = "%nKeys:%n",
    footer = {
      "  1 2 3 4      ports, side by side, fabric, connections",
      "  arrows       move; space selects a port, enter shows the selected side by side",
      "  s u e        sort order; bits or bytes; only ports with errors",
      "  + - p        slower, faster, pause",
      "  z r          count errors from now on; search for new ports",
      "  h q          help; quit",
      "",
      "If standard output is not a terminal, or a dumb one, it prints the same as talaria ports"
          + " --watch. NO_COLOR disables colours.",
      "",
      "Examples:",
      "  talaria top                      this host",
      "  talaria top --watch 0.5 --screen side",
      "  talaria top --fabric             with the fabric, from any port",
      "  talaria top --screen connections the accelerated connections"
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
          "Query the fabric even if this host has no InfiniBand port (default: only if it has"
              + " one).")
  private boolean ofFabric;

  @Option(
      names = {"-a", "--all"},
      description = "Include loopback, dummy, tunnel and unused interfaces.")
  private boolean all;

  @Option(
      names = {"-w", "--watch", "-i", "--interval"},
      paramLabel = "SECONDS",
      defaultValue = "1",
      description = "Seconds between refreshes: 0.2, 0.5, 1, 2, 5 or 10 (default: 1).")
  private double seconds;

  @Option(
      names = "--screen",
      paramLabel = "NAME",
      defaultValue = "ports",
      description =
          "The first screen: ports, side (side by side), fabric or connections (default: ports).")
  private String screen;

  @Option(
      names = "--sys",
      paramLabel = "DIR",
      defaultValue = "/sys",
      description = "Directory to read instead of /sys (default: /sys).")
  private Path sys;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The run-time directory, as in -Dtalaria.dir (default: /tmp/talaria-UID).")
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

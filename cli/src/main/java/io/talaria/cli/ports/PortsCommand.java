// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.cli.harness.ExitStatus;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.LookOptions;
import java.nio.file.Path;
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

/** {@code talaria ports}. The monitor, which needs Java 25, is named in {@link PortsRun} alone. */
@Command(
    name = "ports",
    mixinStandardHelpOptions = true,
    subcommands = ResetCommand.class,
    description = {
      "The ports of this host, InfiniBand, RoCE and Ethernet, and what they count; with --fabric"
          + " those of the InfiniBand fabric around it. Reads only: see reset.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:Shown.",
      "1:A file cannot be written, or a port not be served on.",
      "2:Wrong usage.",
      "69:A device that is named is not here; with --fabric, the fabric cannot be asked."
    },
    footerHeading = "%nColumns:%n",
    footer = {
      "  in, out    bytes received and sent since the counters began; .../s in a second (--watch)",
      "  errors     what should not happen; (+N) in the last interval",
      "  waits      time, or signs, of congestion",
      "  note       stuck: stands at its maximum until it is reset; was reset: fell, so that there"
          + " is no rate for one interval",
      "A RoCE port and its network interface are two rows that count the same wire, each its own"
          + " way: do not add them. docs/monitor.md tells of counters and their units.",
      "",
      "Examples:",
      "  talaria ports                          the ports of this host",
      "  talaria ports mlx5_0 --watch           one device, each second",
      "  talaria ports eth0 --counters          every counter of an interface",
      "  talaria ports --fabric                 all ports with a link in the InfiniBand fabric",
      "  talaria ports --json ports.json        for a script",
      "  talaria ports --watch 15 --prometheus /var/lib/node_exporter/talaria.prom",
      "  talaria ports --serve 9619             http://127.0.0.1:9619/metrics",
      "  talaria ports reset --yes Switch1/3    sets the counters of a remote port to 0"
    })
public final class PortsCommand implements Callable<Integer> {
  private static final int JAVA = 25;
  private static final double MIN_S = 0.1;

  @Spec private CommandSpec spec;

  @Mixin private FabricChoice fabric = new FabricChoice();

  @Parameters(
      paramLabel = "NAME",
      description =
          "Devices, interfaces or nodes, or ports of them as DEVICE/NUMBER (default: all that carry"
              + " something). They stand before options with a value that may be left out.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--fabric", description = "Ports of the fabric instead of this host's.")
  private boolean ofFabric;

  @Option(
      names = {"-a", "--all"},
      description =
          "Loopback, dummies, tunnels and unused interfaces, too; with --fabric also ports without"
              + " a link.")
  private boolean all;

  @Option(names = "--counters", description = "Every counter by itself.")
  private boolean counters;

  @Option(names = "--bits", description = "Rates in bits a second.")
  private boolean bits;

  @Mixin private LookOptions look = new LookOptions();

  @Option(
      names = "--serve",
      paramLabel = "[HOST:]PORT",
      description =
          "Serve that format as GET /metrics until interrupted, on this host's loopback address"
              + " unless another is given.")
  private String serve;

  @Option(
      names = "--sys",
      paramLabel = "DIR",
      defaultValue = "/sys",
      description = "What stands for /sys, for example that of a container's host (default: /sys).")
  private Path sys;

  /** Creates the command; picocli fills it in. */
  public PortsCommand() {}

  /** What the options ask for, checked. */
  record Wishes(
      List<String> names,
      boolean all,
      boolean counters,
      boolean bits,
      LookOptions look,
      HostPort serve,
      Path sys) {}

  @Override
  public Integer call() throws Exception {
    Wishes wishes = check();
    if (Runtime.version().feature() < JAVA) {
      spec.commandLine().getErr().println("talaria: " + tooOld());
      return ExitStatus.MISSING;
    }
    return PortsRun.run(spec.commandLine(), wishes, ofFabric ? fabric : null);
  }

  /** What is said on a Java that cannot load the monitor. */
  public static String tooOld() {
    return "this needs Java "
        + JAVA
        + " or newer, and here is "
        + Runtime.version()
        + "; ./talaria finds one, or set TALARIA_JAVA_HOME";
  }

  private Wishes check() {
    if (serve != null && look.forMachines()) {
      throw bad("--json, --prometheus and --serve are three ways to hand out; choose one");
    }
    look.check(MIN_S);
    if (serve != null && look.watching()) {
      throw bad("--serve looks when it is asked; --watch is not for it");
    }
    if (counters && (look.forMachines() || serve != null)) {
      throw bad("--counters is for the table; all counters are in the other formats anyway");
    }
    if (!ofFabric) {
      fabric.refuseWithoutFabric(spec.commandLine());
    }
    return new Wishes(names, all, counters, bits, look, place(), sys);
  }

  private HostPort place() {
    if (serve == null) {
      return null;
    }
    String text = serve.matches("\\d+") ? "127.0.0.1:" + serve : serve;
    HostPort place;
    try {
      place = HostPort.parse(text, -1);
    } catch (picocli.CommandLine.TypeConversionException e) {
      throw bad("--serve " + serve + " is no [HOST:]PORT with a port from 0 to 65535");
    }
    if (place.port() < 0 || place.host().isEmpty()) {
      throw bad("--serve " + serve + " is no [HOST:]PORT; for all addresses say 0.0.0.0:PORT");
    }
    return place;
  }

  private ParameterException bad(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}

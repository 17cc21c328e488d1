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
      "Show the InfiniBand, RoCE and Ethernet ports of this host and their counters, or with"
          + " --fabric the ports of the InfiniBand fabric. It changes nothing; only ports reset"
          + " does.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:Success.",
      "1:A file cannot be written, or the port of --serve is not available.",
      "2:Wrong usage.",
      "69:A named device does not exist, the fabric cannot be queried, or Java is older than 25."
    },
    footerHeading = "%nColumns:%n",
    footer = {
      "  in, out    bytes received and sent since the counters started at 0",
      "  .../s      the same per second, since the last refresh (with --watch)",
      "  errors     error counters; (+N) is the increase since the last refresh",
      "  waits      time spent waiting to send, or other signs of congestion",
      "  note       stuck: the counter is at its maximum until it is reset",
      "             was reset: the counter decreased, so there is no rate this time",
      "",
      "A RoCE port and its network interface are two rows that count the same traffic in"
          + " different ways; do not add them. docs/monitor.md explains the counters and their"
          + " units.",
      "",
      "Examples:",
      "  talaria ports                          the ports of this host",
      "  talaria ports mlx5_0 --watch           one device, every second",
      "  talaria ports eth0 --counters          every counter of an interface",
      "  talaria ports --fabric                 all ports of the fabric with a link",
      "  talaria ports --json ports.json        for a script",
      "  talaria ports --watch 15 --prometheus /var/lib/node_exporter/talaria.prom",
      "  talaria ports --serve 9619             http://127.0.0.1:9619/metrics",
      "  talaria ports reset --yes Switch1/3    reset the counters of a port"
    })
public final class PortsCommand implements Callable<Integer> {
  private static final int JAVA = 25;
  private static final double MIN_S = 0.1;

  @Spec private CommandSpec spec;

  @Mixin private FabricChoice fabric = new FabricChoice();

  @Parameters(
      paramLabel = "NAME",
      description =
          "Devices, interfaces or nodes, or one of their ports as DEVICE/NUMBER (default: all"
              + " ports in use). Put names before --watch, --json and --prometheus, which would"
              + " take a name as their value.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--fabric",
      description = "Show the ports of the InfiniBand fabric instead of this host's.")
  private boolean ofFabric;

  @Option(
      names = {"-a", "--all"},
      description =
          "Include loopback, dummy, tunnel and unused interfaces; with --fabric, ports without a"
              + " link.")
  private boolean all;

  @Option(names = "--counters", description = "Show every counter in its own row.")
  private boolean counters;

  @Option(names = "--bits", description = "Show rates in bits per second instead of bytes.")
  private boolean bits;

  @Mixin private LookOptions look = new LookOptions();

  @Option(
      names = "--serve",
      paramLabel = "[HOST:]PORT",
      description =
          "Serve Prometheus metrics at GET /metrics until interrupted (default HOST: 127.0.0.1).")
  private String serve;

  @Option(
      names = "--sys",
      paramLabel = "DIR",
      defaultValue = "/sys",
      description =
          "Directory to read instead of /sys, for example the host's /sys in a container"
              + " (default: /sys).")
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
      throw bad("--json, --prometheus and --serve exclude each other");
    }
    look.check(MIN_S);
    if (serve != null && look.watching()) {
      throw bad("--serve reads the ports at each request and takes no --watch");
    }
    if (counters && (look.forMachines() || serve != null)) {
      throw bad("--counters is for the table; the other formats always have all counters");
    }
    if (bits && (look.forMachines() || serve != null)) {
      throw bad("--bits is for the table; the other formats always have bytes");
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

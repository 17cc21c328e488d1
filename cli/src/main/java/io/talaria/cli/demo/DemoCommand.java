// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.demo;

import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Machine;
import io.talaria.cli.harness.Pair;
import io.talaria.cli.harness.Pinning;
import io.talaria.cli.harness.Progress;
import io.talaria.cli.harness.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria demo}. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Run an ordinary Netty server and client in two JVMs, first on the JDK's sockets, then with"
          + " Talaria's agent on both; print a table and draw a picture. Takes a minute at most.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria demo",
      "  talaria demo --out /tmp/latency.png",
      "  talaria demo --no-pin --json demo.json"
    })
public final class DemoCommand implements Subcommand {
  private static final double FASTEST = 100;

  @Spec private CommandSpec spec;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      defaultValue = "talaria-demo.svg",
      description = "Where to write the picture, .svg or .png. Default: ${DEFAULT-VALUE}.")
  private Path out;

  @Option(
      names = "--no-pin",
      description = "Do not pin the JVMs to a core each (server 0, client 1).")
  private boolean noPin;

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent's jar. Default: dist/talaria.jar.")
  private Path agent;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write the table to a file, for machines.")
  private Path json;

  @Option(
      names = "--speed",
      paramLabel = "N",
      defaultValue = "1",
      hidden = true,
      description = "Divide all times by N, to test the demo itself.")
  private double speed;

  /** Creates the command; picocli fills it. */
  public DemoCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    check();
    AgentJar jar = Pair.bothPlain() ? null : AgentJar.locate(agent);
    Pinning pinning = Pinning.decide(!noPin);
    Machine machine = Machine.describe(jar == null ? "none" : jar.version(), pinning);
    DemoRunner runner = new DemoRunner(jar == null ? null : jar.file(), pinning, speed);
    DemoRun jdk;
    DemoRun talaria;
    try (Progress progress =
        new Progress(
            spec.commandLine().getErr(), Terminal.onStandardError(), DemoRunner.totalMs(speed))) {
      jdk = runner.run(Contender.JDK, progress);
      talaria = runner.run(Contender.TALARIA, progress);
    }
    DemoReport report = new DemoReport(jdk, talaria);
    print(machine, report);
    if (json != null) {
      try {
        Json.write(json, report.json(machine));
      } catch (IOException e) {
        throw new HarnessException("cannot write " + json + ": " + e.getMessage(), e);
      }
    }
    draw(jdk, talaria, machine);
    return CommandLine.ExitCode.OK;
  }

  private void check() {
    String name = out.toString().toLowerCase(Locale.ROOT);
    if (!name.endsWith(".svg") && !name.endsWith(".png")) {
      throw new ParameterException(
          spec.commandLine(), "--out must name a file that ends in .svg or .png, not " + out);
    }
    Path folder = out.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new ParameterException(spec.commandLine(), "--out: there is no folder " + folder);
    }
    if (!(speed >= 1 && speed <= FASTEST)) {
      throw new ParameterException(spec.commandLine(), "--speed must be from 1 to 100");
    }
  }

  private void print(Machine machine, DemoReport report) {
    PrintWriter console = spec.commandLine().getOut();
    machine.lines().forEach(console::println);
    console.println();
    console.print(report.text());
    console.println();
    console.flush();
  }

  private void draw(DemoRun jdk, DemoRun talaria, Machine machine) throws HarnessException {
    // Without this, a machine with a display would be asked for it.
    System.setProperty("java.awt.headless", "true");
    try {
      LatencyPicture picture =
          new LatencyPicture(
              "Netty echo of 16 B between two JVMs",
              machine.cpu()
                  + ", "
                  + machine.cores()
                  + " cores, JDK "
                  + Runtime.version().feature());
      picture.addJdk(jdk.histogram(DemoPhase.ROUND_TRIP));
      picture.addTalaria(talaria.histogram(DemoPhase.ROUND_TRIP));
      picture.write(out);
    } catch (IOException | LinkageError | RuntimeException e) {
      throw new HarnessException("no picture at " + out + ": " + e, e);
    }
    PrintWriter console = spec.commandLine().getOut();
    console.println("Picture: " + out.toAbsolutePath().normalize());
    console.flush();
  }
}

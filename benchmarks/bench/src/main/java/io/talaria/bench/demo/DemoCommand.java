// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iterations;
import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.OutputOptions;
import io.talaria.bench.compare.TransportOptions;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.PinOptions;
import io.talaria.bench.report.LatencyPicture;
import io.talaria.bench.result.FileFault;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
      "Run a Netty server and client in two JVMs, first on the JDK's sockets, then with Talaria's"
          + " agent; print a table and draw a picture. Takes up to a minute.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria demo",
      "  talaria demo --out /tmp/latency.svg",
      "  talaria demo --no-pin --json demo.json"
    })
public final class DemoCommand implements Subcommand {
  private static final double FASTEST = 100;

  @Spec private CommandSpec spec;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "The picture to write (SVG). Default: dist/talaria-demo.svg.")
  private Path out;

  @Mixin private PinOptions pin;
  @Mixin private TransportOptions transports;
  @Mixin private OutputOptions output;

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
    if (out == null) {
      out = AgentJar.sibling("talaria-demo.svg");
    }
    check();
    output.check();
    Launch launch = transports.launch(pin.pinning(spec.commandLine()));
    Machine machine = launch.machine();
    Comparison found = new Comparison(launch.compared());
    new Iterations(1, 0, false, spec.commandLine().getErr())
        .measure(List.of(new DemoCase(launch, speed)), found);
    try {
      return output.print(found, machine, "talaria-demo-3", Map.of("speed", speed));
    } finally {
      draw(found, machine);
    }
  }

  private void check() {
    String name = out.toString().toLowerCase(Locale.ROOT);
    if (!name.endsWith(".svg")) {
      throw new ParameterException(
          spec.commandLine(), "--out must name a file that ends in .svg, not " + out);
    }
    output.check("--out", out);
    if (!(speed >= 1 && speed <= FASTEST)) {
      throw new ParameterException(spec.commandLine(), "--speed must be from 1 to 100");
    }
  }

  private void draw(Comparison found, Machine machine) throws HarnessException {
    Map<Implementation, Histogram> times = new LinkedHashMap<>();
    for (Implementation implementation : Implementation.ofSockets()) {
      Histogram histogram = found.merged(DemoCase.ROUND_TRIP, implementation);
      if (histogram != null) {
        times.put(implementation, histogram);
      }
    }
    if (times.isEmpty()) {
      return; // all of them failed, which is told
    }
    String conditions =
        machine.cpu()
            + ", "
            + machine.cores()
            + " cores, JDK "
            + Runtime.version().feature()
            + (machine.load() > machine.cores() ? ", BUSY: the figures are off" : "");
    try {
      Files.writeString(
          out, LatencyPicture.svg("Netty echo of 16 B between two JVMs", conditions, times));
    } catch (IOException e) {
      throw new HarnessException("no picture at " + out + ": " + FileFault.reason(e), e);
    }
    PrintWriter console = output.people();
    console.println("Picture: " + out.toAbsolutePath().normalize());
    console.flush();
  }
}

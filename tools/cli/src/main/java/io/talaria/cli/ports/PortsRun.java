// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.cli.harness.ExitStatus;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Terminal;
import io.talaria.cli.screen.Screen;
import io.talaria.monitor.PrometheusText;
import io.talaria.monitor.fabric.Fabric;
import io.talaria.monitor.fabric.FabricException;
import io.talaria.monitor.fabric.FabricOptions;
import io.talaria.monitor.fabric.FabricPort;
import io.talaria.monitor.fabric.QueryResult;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;

/** Does what {@code talaria ports} is asked for. */
final class PortsRun {
  private static final double NS_PER_S = 1e9;

  private final CommandLine command;
  private final PortsCommand.Wishes wishes;
  private final PrintWriter out;

  private PortsRun(CommandLine command, PortsCommand.Wishes wishes) {
    this.command = command;
    this.wishes = wishes;
    this.out = command.getOut();
  }

  /** Runs it; for ports of this host if there is no choice of a fabric. */
  static int run(CommandLine command, PortsCommand.Wishes wishes, FabricChoice fabric)
      throws HarnessException, InterruptedException {
    PortFilter filter = new PortFilter(wishes.names(), wishes.all());
    double seconds = wishes.look().seconds();
    try (PortSource source =
        fabric == null
            ? new LocalSource(wishes.sys(), filter)
            : FabricSource.start(
                FabricWishes.of(fabric, command), (long) (seconds * NS_PER_S), filter)) {
      return new PortsRun(command, wishes).show(source);
    }
  }

  private int show(PortSource source) throws HarnessException, InterruptedException {
    try {
      Look first = source.look();
      String unknown = unknown(first);
      if (!unknown.isEmpty()) {
        return missing("there is no port, device or node " + unknown + " here; --all shows all");
      }
      if (wishes.serve() != null) {
        serve(source);
      } else if (!wishes.look().watching()) {
        hand(first, false);
      } else if (!wishes.look().forMachines() && Terminal.onStandardOutput()) {
        watchOnScreen(source, first);
      } else {
        watch(source, first);
      }
      return 0;
    } catch (FabricException e) {
      return missing(e.getMessage());
    } catch (IOException e) {
      throw new HarnessException("looking at the ports has failed: " + e, e);
    }
  }

  private int missing(String text) {
    command.getErr().println("talaria: " + text);
    return ExitStatus.MISSING;
  }

  /** A name that no port has, or empty. */
  private String unknown(Look look) {
    return wishes.names().stream()
        .filter(name -> look.lines().stream().noneMatch(l -> PortFilter.names(name, l.port())))
        .findFirst()
        .orElse("");
  }

  private void serve(PortSource source) throws HarnessException, InterruptedException {
    try (MetricsServer server = MetricsServer.start(wishes.serve(), source)) {
      out.println(
          "serving http://"
              + server.address().getHostString()
              + ":"
              + server.address().getPort()
              + "/metrics; Ctrl-C ends");
      out.flush();
      new CountDownLatch(1).await();
    }
  }

  private void watch(PortSource source, Look first)
      throws HarnessException, IOException, InterruptedException {
    Look look = first;
    for (int n = 1; ; n++) {
      hand(look, true);
      if (out.checkError() || wishes.look().enough(n)) {
        return;
      }
      TimeUnit.NANOSECONDS.sleep((long) (wishes.look().seconds() * NS_PER_S));
      look = source.look();
    }
  }

  private void watchOnScreen(PortSource source, Look first)
      throws HarnessException, IOException, InterruptedException {
    Look look = first;
    try (Screen screen = Screen.take()) {
      for (int n = 1; ; n++) {
        Terminal.Size size = screen.size();
        screen.show(PortText.screen(look, wishes, size));
        if (wishes.look().enough(n)) {
          return;
        }
        if (screen.pause((long) (wishes.look().seconds() * NS_PER_S))) {
          return;
        }
        look = source.look();
      }
    }
  }

  /** Hands one look out, as the user wants it. */
  private void hand(Look look, boolean watching) throws HarnessException {
    if (wishes.look().wantsJson()) {
      wishes.look().json(out, PortJson.tree(look));
    } else if (wishes.look().wantsPrometheus()) {
      wishes.look().prometheus(out, PrometheusText.of(look.readings()));
    } else {
      out.print(PortText.render(look, wishes));
      if (watching) {
        out.println();
      }
    }
    out.flush();
  }

  /** Resets ports of the fabric. */
  static int reset(CommandLine command, FabricChoice choice, List<String> names) {
    FabricOptions options = FabricWishes.of(choice, command);
    PrintWriter out = command.getOut();
    try (Fabric fabric = Fabric.open(options)) {
      List<FabricPort> all = fabric.discover().connected();
      for (String name : names) {
        if (all.stream().noneMatch(port -> PortFilter.names(name, port.port()))) {
          command.getErr().println("talaria: no port with a link is called " + name);
          return ExitStatus.MISSING;
        }
      }
      int failed = 0;
      for (FabricPort port : all) {
        if (!names.isEmpty()
            && names.stream().noneMatch(name -> PortFilter.names(name, port.port()))) {
          continue;
        }
        QueryResult.Status status = fabric.reset(port);
        boolean done = status == QueryResult.Status.RESPONDED;
        out.println(port.port().id() + ": " + (done ? "reset" : status.text()));
        failed += done ? 0 : 1;
      }
      return failed == 0 ? 0 : 1;
    } catch (FabricException e) {
      command.getErr().println("talaria: " + e.getMessage());
      return ExitStatus.MISSING;
    } finally {
      out.flush();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Terminal;
import io.talaria.cli.ports.FabricChoice;
import io.talaria.cli.ports.FabricSource;
import io.talaria.cli.ports.FabricWishes;
import io.talaria.cli.ports.LocalSource;
import io.talaria.cli.ports.Look;
import io.talaria.cli.ports.PortFilter;
import io.talaria.cli.ports.PortLine;
import io.talaria.cli.screen.Key;
import io.talaria.cli.screen.Screen;
import io.talaria.cli.ss.Connections;
import io.talaria.monitor.CounterKind;
import io.talaria.monitor.LinkLayer;
import io.talaria.monitor.PortId;
import io.talaria.monitor.Traffic;
import io.talaria.monitor.fabric.FabricOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;

/** Looks, draws and takes keys until the user leaves. */
final class TopRun {
  private static final double NS_PER_S = 1e9;
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  private final TopState state;
  private final LocalSource local;
  private final FabricSource fabric;
  private final Connections connections;
  private final Map<PortId, History> histories = new HashMap<>();
  private final Base base = new Base();
  private String baseText = "";
  private List<PortLine> localLines = List.of();
  private Look fabricLook;
  private String connectionsProblem = "";
  private String clock = "";
  private long skipped;

  private TopRun(TopState state, LocalSource local, FabricSource fabric, Connections connections) {
    this.state = state;
    this.local = local;
    this.fabric = fabric;
    this.connections = connections;
  }

  /** Runs it to the end. */
  static int run(CommandLine command, TopCommand.Wishes wishes, FabricChoice choice)
      throws HarnessException, InterruptedException {
    FabricOptions options = FabricWishes.of(choice, command);
    if (!Terminal.onStandardOutput() || !Terminal.onStandardInput()) {
      return command.getParent().execute(ports(wishes, choice));
    }
    PortFilter filter = new PortFilter(List.of(), wishes.all());
    Connections connections;
    try {
      connections = new Connections(wishes.dir());
    } catch (IllegalArgumentException e) {
      throw new HarnessException(e.getMessage(), e);
    }
    TopState state = new TopState(TopState.Page.of(wishes.screen()), wishes.seconds());
    try (LocalSource local = new LocalSource(wishes.sys(), filter)) {
      boolean infiniband =
          wishes.sys().equals(Path.of("/sys")) // the fabric is that of this host
              && local.look().lines().stream()
                  .anyMatch(line -> line.port().layer() == LinkLayer.INFINIBAND);
      try (FabricSource fabric =
          wishes.fabric() || infiniband
              ? FabricSource.start(options, (long) (state.seconds() * NS_PER_S), filter)
              : null) {
        new TopRun(state, local, fabric, connections).loop();
      }
    }
    return 0;
  }

  /** The command that shows the same as tables. */
  private static String[] ports(TopCommand.Wishes wishes, FabricChoice choice) {
    List<String> words = new ArrayList<>(List.of("ports", "--sys", wishes.sys().toString()));
    words.addAll(List.of("--watch", Double.toString(wishes.seconds())));
    if (wishes.all()) {
      words.add("--all");
    }
    if (wishes.fabric()) {
      words.add("--fabric");
      words.addAll(choice.words());
    }
    return words.toArray(String[]::new);
  }

  private void loop() throws InterruptedException {
    try (Screen screen = Screen.take()) {
      TopView view = new TopView(state, Screen.colored(), screen.unicode());
      long dueNs = System.nanoTime();
      while (true) {
        Terminal.Size size = screen.size();
        long nowNs = System.nanoTime();
        if (nowNs - dueNs >= 0) {
          if (!state.paused()) {
            look();
          }
          long stepNs = (long) (state.seconds() * NS_PER_S);
          // Counted from the end: a look that takes longer than the interval skips some.
          long late = (System.nanoTime() - dueNs) / stepNs;
          skipped += late > 0 && dueNs != nowNs ? late : 0;
          dueNs = System.nanoTime() + stepNs;
        }
        TopView.Data data = data(size);
        screen.draw(view.draw(data, size), size);
        List<PortLine> rows = view.rows(data);
        if (fabric != null) {
          fabric.show(visible(view, rows, size));
        }
        Key key = screen.key(Math.max(1, dueNs - System.nanoTime()));
        switch (state.press(key, rows, TopView.tableRows(size))) {
          case LEAVE -> {
            return;
          }
          case RESCAN -> {
            local.rescan();
            if (fabric != null) {
              fabric.rediscover();
            }
            dueNs = System.nanoTime();
          }
          case SET_BASE -> setBase();
          case INTERVAL -> {
            if (fabric != null) {
              fabric.every((long) (state.seconds() * NS_PER_S));
            }
            dueNs = System.nanoTime();
          }
          case NOTHING -> {}
        }
      }
    }
  }

  /** The ports of the fabric that are seen now; no others are queried. */
  private List<PortId> visible(TopView view, List<PortLine> rows, Terminal.Size size) {
    Set<PortId> ids = new HashSet<>(state.chosen());
    if (state.page() == TopState.Page.FABRIC) {
      int first = view.firstRow(rows, size);
      rows.subList(first, Math.min(rows.size(), first + TopView.tableRows(size)))
          .forEach(line -> ids.add(line.port().id()));
    }
    return List.copyOf(ids);
  }

  private void look() {
    clock = now();
    localLines = local.look().lines();
    if (fabric != null) {
      fabricLook = fabric.glance();
    }
    for (List<PortLine> lines : List.of(localLines, fabricLines())) {
      for (PortLine line : lines) {
        boolean kept = line.rates() != null && (!line.port().remote() || histories.size() < 1000);
        if (kept) {
          histories
              .computeIfAbsent(line.port().id(), id -> new History())
              .add(
                  line.rates().perSecond(CounterKind.DATA, Traffic.RECEIVED),
                  line.rates().perSecond(CounterKind.DATA, Traffic.SENT));
        }
      }
    }
    if (state.page() == TopState.Page.CONNECTIONS) {
      try {
        connections.look();
        connectionsProblem = "";
      } catch (IOException e) {
        connectionsProblem = "the run-time directory cannot be read: " + e;
      }
    }
  }

  private static String now() {
    return TIME.format(LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS));
  }

  private void setBase() {
    List<PortLine> all = new ArrayList<>(localLines);
    all.addAll(fabricLines());
    base.set(all);
    baseText = now();
  }

  private List<PortLine> fabricLines() {
    return fabricLook == null ? List.of() : fabricLook.lines();
  }

  private TopView.Data data(Terminal.Size size) {
    List<String> lines = List.of();
    if (state.page() == TopState.Page.CONNECTIONS) {
      lines =
          connectionsProblem.isEmpty()
              ? connections.lines(TopView.body(size))
              : List.of(connectionsProblem);
    }
    return new TopView.Data(
        localLines, fabricLines(), fabricNote(), lines, histories, base, baseText, clock, skipped);
  }

  private String fabricNote() {
    if (fabric == null) {
      return "no port of this host is InfiniBand's; --fabric queries the fabric all the same";
    }
    if (fabricLook != null && !fabricLook.problem().isEmpty()) {
      return fabricLook.problem();
    }
    return fabricLook == null || fabricLook.topology() == null
        ? "the fabric is being discovered"
        : "no port of the fabric has a link";
  }
}

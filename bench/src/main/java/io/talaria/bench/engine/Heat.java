// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ModeProbe;
import io.talaria.bench.link.Binding;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Contender;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/** Cases of one contender in one crew of JVMs, phase by phase. Used by one thread. */
final class Heat {
  /** Operations of the first round of warming up. */
  private static final long FIRST_OPERATIONS = 50;

  /** How long a round of warming up shall take. */
  private static final double ROUND_SECONDS = 0.1;

  private static final long LEAST_OPERATIONS = 10;

  /**
   * How many connections are made before they are accepted. With hundreds the first would wait for
   * so long that Talaria gives up negotiating them.
   */
  private static final int AT_ONCE = 16;

  private final Crew crew;
  private final RunPlan plan;
  private final Contender contender;
  private final int repetition;
  private final Outcome outcome;
  private final Duration limit;
  private boolean allToAll;
  private String doing = "starting";

  Heat(Crew crew, RunPlan plan, Contender contender, int repetition, Outcome outcome) {
    this.crew = crew;
    this.plan = plan;
    this.contender = contender;
    this.repetition = repetition;
    this.outcome = outcome;
    limit = Duration.ofSeconds(plan.limitSeconds());
  }

  /** Returns what it does, or was doing when it failed. */
  String doing() {
    return doing;
  }

  /** Says how others reach a member of a crew. */
  @FunctionalInterface
  interface Hosts {
    String of(Crew crew, int member);
  }

  /**
   * Runs it.
   *
   * @param cases which all need the same crew
   * @param hosts how members are reached
   * @param stopped whether to leave off after the case at hand
   */
  void run(List<Case> cases, Hosts hosts, BooleanSupplier stopped)
      throws HarnessException, InterruptedException {
    allToAll = cases.getFirst().pattern() == Pattern.ALL_TO_ALL;
    initialize();
    int connections = 0;
    for (Case measured : cases) {
      if (stopped.getAsBoolean()) {
        return;
      }
      doing = measured.describe();
      outcome.begins(contender, measured, repetition);
      if (measured.connections() != connections) {
        if (connections > 0) {
          cleanUp();
        }
        connections = measured.connections();
        connectAll(measured, hosts);
      }
      outcome.measured(measure(measured));
    }
    cleanUp();
  }

  /** Of a pair the second leads, among many all do. */
  private boolean leads(int member) {
    return allToAll || member > 0;
  }

  private void initialize() throws HarnessException, InterruptedException {
    List<Orders.Initialized> all =
        crew.each(
            Orders.Phase.INITIALIZE,
            member -> new Orders.Initialize(contender.binding(), leads(member)),
            Orders.Initialized.class,
            limit);
    for (int i = 0; i < all.size(); i++) {
      if (!all.get(i).obstacle().isEmpty()) {
        throw new HarnessException(
            (i < Coordinator.onServer(all.size()) ? "the server's side: " : "this side: ")
                + all.get(i).obstacle());
      }
    }
    boolean wanted = contender.road().accelerated();
    if (all.stream().anyMatch(one -> one.talaria() != wanted)) {
      throw new HarnessException(
          wanted
              ? "the agent did not switch Talaria on"
              : "Talaria is switched on where plain sockets are to be measured");
    }
  }

  /** Connects each pair. */
  private void connectAll(Case measured, Hosts hosts)
      throws HarnessException, InterruptedException {
    for (int server = 0; server < crew.size(); server++) {
      Binding.Setup setup =
          new Binding.Setup(
              hosts.of(crew, server),
              plan.largestBytes(),
              measured.connectionsOfEach(),
              plan.threads(),
              plan.transports());
      for (int client = server + 1; client < crew.size(); client++) {
        for (int left = measured.connections(); left > 0; left -= AT_ONCE) {
          connect(server, client, Math.min(left, AT_ONCE), setup);
        }
      }
    }
  }

  private void connect(int server, int client, int connections, Binding.Setup setup)
      throws HarnessException, InterruptedException {
    Orders.Lines offers =
        crew.one(
            server,
            Orders.Phase.OFFER,
            new Orders.Offer(setup, connections),
            Orders.Lines.class,
            limit);
    Orders.Lines answers =
        crew.one(
            client,
            Orders.Phase.ANSWER,
            new Orders.Meet(setup, offers.lines()),
            Orders.Lines.class,
            limit);
    crew.one(
        server,
        Orders.Phase.ACCEPT,
        new Orders.Meet(setup, answers.lines()),
        Orders.Nothing.class,
        limit);
  }

  private void cleanUp() throws HarnessException, InterruptedException {
    each(Orders.Phase.CLEAN_UP, Orders.Nothing.INSTANCE);
  }

  private void each(Orders.Phase phase, Object body) throws HarnessException, InterruptedException {
    crew.each(phase, member -> body, Orders.Nothing.class, limit);
  }

  private Row measure(Case measured) throws HarnessException, InterruptedException {
    each(
        Orders.Phase.PREPARE,
        new Orders.Prepare(measured.pattern(), measured.sizeBytes(), plan.warmUpSeconds()));
    double perSecond = warmUp(measured.ratePerSecond());
    long affordable = Math.max(LEAST_OPERATIONS, (long) (perSecond * plan.seconds()));
    long operations = Math.min(measured.operations(), affordable);
    Duration mostOf = limit.plusMillis((long) (2_000 * operations / perSecond));
    List<Orders.Operated> leaders =
        operate(new Orders.Operate(operations, measured.ratePerSecond(), true), mostOf).leaders();
    for (Orders.Operated leader : leaders) {
      requireAccelerated(leader.roads(), measured.connectionsOfEach());
    }
    return row(measured, operations * measured.connectionsOfAll(), leaders);
  }

  /**
   * What was reported.
   *
   * @param leaders by those who lead
   * @param warm whether all are warm
   */
  private record Done(List<Orders.Operated> leaders, boolean warm) {
    /** How long the slowest took. */
    long elapsedNs() {
      return leaders.stream().mapToLong(Orders.Operated::elapsedNs).max().orElseThrow();
    }
  }

  private Done operate(Orders.Operate order, Duration most)
      throws HarnessException, InterruptedException {
    List<Orders.Operated> all = crew.operate(order, this::leads, most);
    return new Done(
        IntStream.range(0, all.size()).filter(this::leads).mapToObj(all::get).toList(),
        all.stream().allMatch(Orders.Operated::warm));
  }

  /** Warms up until all are warm; returns how many operations a second there were. */
  private double warmUp(int ratePerSecond) throws HarnessException, InterruptedException {
    long operations =
        ratePerSecond == 0
            ? FIRST_OPERATIONS
            : Math.clamp((long) (ratePerSecond * ROUND_SECONDS), 1, FIRST_OPERATIONS);
    while (true) {
      Done done = operate(new Orders.Operate(operations, ratePerSecond, false), limit);
      double perSecond = operations * 1e9 / Math.max(1, done.elapsedNs());
      if (done.warm()) {
        return perSecond;
      }
      operations = Math.max(1, Math.min(4 * operations, (long) (perSecond * ROUND_SECONDS)));
    }
  }

  private void requireAccelerated(ModeProbe.Roads roads, int connections) throws HarnessException {
    if (contender.road().accelerated() && roads.accelerated() < connections) {
      throw new HarnessException(
          "NOT ACCELERATED: of "
              + connections
              + " connections "
              + roads.accelerated()
              + " are on a fabric: "
              + roads.describe());
    }
  }

  private Row row(Case measured, long operations, List<Orders.Operated> leaders) {
    Orders.Operated client = leaders.getLast();
    return new Row(
        contender,
        measured,
        repetition,
        contender.road().accelerated() ? client.roads().describe() : "",
        operations,
        measured.pattern().messages() * operations,
        leaders.stream().map(Orders.Operated::elapsedNs).toList(),
        decode(client.sinceBegun()),
        decode(client.sinceDue()),
        client.wireBytes(),
        client.infinibandBytes());
  }

  private static Histogram decode(String text) {
    return text == null ? null : Latencies.decode(text);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Turns results into the measures that the project has set itself, with their targets. */
final class Summary {
  private static final double BLOCKING_TIMES = 20;
  private static final double SELECT_NOW_TIMES = 12;
  private static final double SELECT_TIMES = 50;
  private static final double ONEWAY_SMALL_TIMES = 15;
  private static final double ONEWAY_LARGE_TIMES = 4;
  private static final double IDLE_PERCENT = 1;
  private static final double MANY_TIMES = 2;
  private static final double SCALE_TIMES = 1.5;

  /** A /dev/shm of 64 MB, as containers have, must hold 200 connections. */
  private static final double SHM_BYTES = 64.0 * (1 << 20) / 200;

  private final Results results;
  private final List<Row> rows = new ArrayList<>();

  private Summary(Results results) {
    this.results = results;
  }

  /**
   * Returns the measures of the scenarios that have results.
   *
   * @param scenarios what was to be measured
   * @param results what was measured
   */
  static List<Row> of(List<Scenario> scenarios, Results results) {
    Summary summary = new Summary(results);
    scenarios.forEach(summary::add);
    return summary.rows;
  }

  private void add(Scenario scenario) {
    switch (scenario.pattern()) {
      case BLOCKING, SELECT_NOW, SELECT -> addRoundTrip(scenario);
      case ONEWAY -> addOneway(scenario);
      case IDLE -> addIdle(scenario);
      case MANY -> addMany(scenario);
      case SCALE -> addScale(scenario);
      case ALLOC -> addAllocation(scenario);
    }
  }

  private void addRoundTrip(Scenario scenario) {
    if (scenario.flight() == Flight.ALL) {
      row(scenario, "", "", Quantity.PER_SECOND, run -> run.value(Measured.TRIPS_PER_SECOND), null);
      return;
    }
    ToDoubleFunction<Results.Run> median = run -> run.medianNs(Measured.ROUND_TRIP);
    Target target = null;
    Spread talaria = results.spread(scenario, Contender.TALARIA, median);
    boolean judged = scenario.sizeBytes() == Plan.SMALL && scenario.connections() == 1;
    if (judged && talaria != null) {
      boolean blocking = scenario.pattern() == Pattern.BLOCKING;
      Scenario baseline = blocking ? spinning(scenario) : scenario;
      Spread jdk = results.spread(baseline, Contender.JDK, median);
      double times =
          switch (scenario.pattern()) {
            case BLOCKING -> BLOCKING_TIMES;
            case SELECT_NOW -> SELECT_NOW_TIMES;
            default -> SELECT_TIMES;
          };
      if (jdk != null) {
        target =
            Target.ratio(times, jdk.median() / talaria.median(), blocking ? "JDK's selectNow" : "");
      }
    }
    row(scenario, "", ", p50", Quantity.TIME, median, target);
  }

  private static Scenario spinning(Scenario blocking) {
    return new Scenario(
        Pattern.SELECT_NOW, Waiting.SELECT_NOW, blocking.sizeBytes(), 1, Flight.TURN);
  }

  private void addOneway(Scenario scenario) {
    boolean large = scenario.sizeBytes() >= 4_096;
    Quantity quantity = large ? Quantity.GIGABYTES_PER_SECOND : Quantity.PER_SECOND;
    String name = large ? Measured.GIGABYTES_PER_SECOND : Measured.MESSAGES_PER_SECOND;
    ToDoubleFunction<Results.Run> figure = run -> run.value(name);
    Spread jdk = results.spread(scenario, Contender.JDK, figure);
    Spread talaria = results.spread(scenario, Contender.TALARIA, figure);
    Target target = null;
    if (jdk != null && talaria != null && scenario.connections() == 1) {
      double ratio = quantity.ratio(jdk.median(), talaria.median());
      if (scenario.sizeBytes() == Plan.SMALL) {
        target = Target.ratio(ONEWAY_SMALL_TIMES, ratio, "");
      } else if (scenario.sizeBytes() == Plan.LARGE) {
        target = Target.ratio(ONEWAY_LARGE_TIMES, ratio, "");
      }
    }
    row(scenario, "", "", quantity, figure, target);
  }

  private void addIdle(Scenario scenario) {
    ToDoubleFunction<Results.Run> percent = run -> run.value(Measured.IDLE_CPU);
    Spread talaria = results.spread(scenario, Contender.TALARIA, percent);
    row(
        scenario,
        "",
        ", CPU of both JVMs",
        Quantity.PERCENT,
        percent,
        talaria == null ? null : Target.below(IDLE_PERCENT, talaria.median(), Quantity.PERCENT));
  }

  private void addMany(Scenario scenario) {
    ToDoubleFunction<Results.Run> one = run -> run.medianNs(Measured.ROUND_TRIP_ONE);
    row(scenario, "/one", ", p50 with one", Quantity.TIME, one, null);
    addGrowth(scenario, MANY_TIMES, ", p50 with all", ", all against one", one);
    addSharedMemory(scenario);
  }

  private void addScale(Scenario scenario) {
    addTime(scenario, "/connect", ", connect", Measured.CONNECT_NS);
    addTime(scenario, "/set-up", ", set up, each echoed", Measured.SET_UP_NS);
    addTime(scenario, "/visit", ", an echo on each in turn", Measured.VISIT_NS);
    addTime(scenario, "/tear-down", ", close", Measured.TEAR_DOWN_NS);
    ToDoubleFunction<Results.Run> before = run -> run.medianNs(Measured.ROUND_TRIP_ONE);
    ToDoubleFunction<Results.Run> after = run -> run.medianNs(Measured.ROUND_TRIP_ONE_AGAIN);
    row(scenario, "/one", ", p50 alone, before", Quantity.TIME, before, null);
    row(scenario, "/again", ", p50 alone, after", Quantity.TIME, after, null);
    addGrowth(
        scenario,
        SCALE_TIMES,
        ", p50 with the others idle",
        ", among idle ones against alone (mean)",
        run -> (before.applyAsDouble(run) + after.applyAsDouble(run)) / 2);
    addSharedMemory(scenario);
    addPlain(scenario, "/client", ", client memory each", Measured.CLIENT_MEMORY, Quantity.BYTES);
    addPlain(scenario, "/server", ", server memory each", Measured.SERVER_MEMORY, Quantity.BYTES);
    addPlain(
        scenario,
        "/descriptors",
        ", descriptors each, both sides",
        Measured.DESCRIPTORS_PER_CONNECTION,
        Quantity.COUNT);
  }

  private void addTime(Scenario scenario, String id, String label, String name) {
    addPlain(scenario, id, label, name, Quantity.TIME);
  }

  private void addPlain(
      Scenario scenario, String id, String label, String name, Quantity quantity) {
    row(scenario, id, label, quantity, run -> run.value(name), null);
  }

  private void addGrowth(
      Scenario scenario,
      double limit,
      String withAll,
      String against,
      ToDoubleFunction<Results.Run> one) {
    ToDoubleFunction<Results.Run> all = run -> run.medianNs(Measured.ROUND_TRIP);
    ToDoubleFunction<Results.Run> times = run -> all.applyAsDouble(run) / one.applyAsDouble(run);
    row(scenario, "/all", withAll, Quantity.TIME, all, null);
    Spread talaria = results.spread(scenario, Contender.TALARIA, times);
    row(
        scenario,
        "/growth",
        against,
        Quantity.TIMES,
        times,
        talaria == null ? null : Target.atMost(limit, talaria.median(), Quantity.TIMES));
  }

  private void addSharedMemory(Scenario scenario) {
    addMemory(scenario, "/shm", ", /dev/shm used each", Measured.SHM_PER_CONNECTION);
    addMemory(scenario, "/mapped", ", /dev/shm mapped each", Measured.MAPPED_PER_CONNECTION);
    row(
        scenario,
        "/mappings",
        ", mappings each",
        Quantity.COUNT,
        run -> run.value(Measured.MAPPINGS_PER_CONNECTION),
        null);
  }

  private void addMemory(Scenario scenario, String id, String label, String name) {
    ToDoubleFunction<Results.Run> bytes = run -> run.value(name);
    Spread talaria = results.spread(scenario, Contender.TALARIA, bytes);
    row(
        scenario,
        id,
        label,
        Quantity.BYTES,
        bytes,
        talaria == null ? null : Target.atMost(SHM_BYTES, talaria.max(), Quantity.BYTES));
  }

  private void addAllocation(Scenario scenario) {
    addAllocation(scenario, "client", Measured.CLIENT_ALLOCATED);
    addAllocation(scenario, "server", Measured.SERVER_ALLOCATED);
  }

  private void addAllocation(Scenario scenario, String side, String name) {
    ToDoubleFunction<Results.Run> bytes = run -> run.value(name);
    Spread talaria = results.spread(scenario, Contender.TALARIA, bytes);
    row(
        scenario,
        "/" + side,
        ", " + side + ", a trip",
        Quantity.BYTES,
        bytes,
        talaria == null ? null : Target.nothing(talaria.max()));
  }

  private void row(
      Scenario scenario,
      String idSuffix,
      String labelSuffix,
      Quantity quantity,
      ToDoubleFunction<Results.Run> figure,
      Target target) {
    Spread jdk = results.spread(scenario, Contender.JDK, figure);
    Spread talaria = results.spread(scenario, Contender.TALARIA, figure);
    if (jdk != null || talaria != null) {
      String id = scenario.id() + idSuffix;
      rows.add(
          new Row(
              id,
              scenario.label() + labelSuffix,
              quantity,
              jdk,
              talaria,
              idSuffix.isEmpty() ? results.ucx(scenario) : null,
              target));
    }
  }
}

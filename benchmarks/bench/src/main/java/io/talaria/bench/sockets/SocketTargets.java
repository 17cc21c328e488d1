// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/**
 * What the project has set itself: holds what was found against it.
 *
 * @param found what was found
 */
record SocketTargets(Comparison found) {
  private static final double BLOCKING_TIMES = 20;
  private static final double SELECT_NOW_TIMES = 12;
  private static final double SELECT_TIMES = 50;
  private static final double ONEWAY_SMALL_TIMES = 15;
  private static final double ONEWAY_LARGE_TIMES = 4;
  private static final double IDLE_PERCENT = 1;
  private static final double MANY_TIMES = 2;
  private static final double SCALE_TIMES = 1.5;
  private static final double UCX_ROUND_TRIP_TIMES = 2.5;
  private static final double UCX_ONEWAY_TIMES = 0.5;
  private static final double JUCX_ROUND_TRIP_TIMES = 3;
  private static final double JUCX_CONNECTIONS_SHARE = 1.0 / 3;
  private static final double JUCX_ONEWAY_SHARE = 0.6;
  private static final int JUCX_CONNECTIONS = 64;

  /** A read and a write, of 100 bytes each. */
  private static final double JUCX_TRIP_BYTES = 2 * 100;

  /** A /dev/shm of 64 MB, as containers have, must hold 200 connections. */
  private static final double SHM_BYTES = 64.0 * (1 << 20) / 200;

  /**
   * Judges Talaria on shared memory.
   *
   * @param scenarios what was measured
   */
  void judge(List<Scenario> scenarios) {
    scenarios.forEach(this::judge);
  }

  private void judge(Scenario scenario) {
    String id = scenario.id();
    switch (scenario.pattern()) {
      case BLOCKING, SELECT_NOW, SELECT -> judgeRoundTrip(scenario);
      case ONEWAY -> judgeOneway(scenario);
      case IDLE -> hold(id, Spread::median, IDLE_PERCENT, Quantity.PERCENT, Target::below);
      case MANY -> judgeGrowth(id, MANY_TIMES);
      case SCALE -> judgeGrowth(id, SCALE_TIMES);
      case ALLOC -> {
        hold(id + "/client", Spread::max, 0, Quantity.BYTES, SocketTargets::nothing);
        hold(id + "/server", Spread::max, 0, Quantity.BYTES, SocketTargets::nothing);
      }
      case WAKE, COLD -> {
        // Their targets are those of the doorbells to come.
      }
    }
  }

  private void judgeRoundTrip(Scenario scenario) {
    if (scenario.sizeBytes() != Plan.SMALL || scenario.connections() != 1) {
      return;
    }
    boolean blocking = scenario.pattern() == Pattern.BLOCKING;
    Scenario baseline = blocking ? spinning(scenario) : scenario;
    double times =
        switch (scenario.pattern()) {
          case BLOCKING -> BLOCKING_TIMES;
          case SELECT_NOW -> SELECT_NOW_TIMES;
          default -> SELECT_TIMES;
        };
    double ratio = ratio(Quantity.TIME, baseline.id() + "/p50", scenario.id() + "/p50");
    if (!Double.isNaN(ratio)) {
      String against = blocking ? "JDK's selectNow" : "";
      found.judge(scenario.id() + "/p50", Target.ratio(times, ratio, against));
    }
  }

  private static Scenario spinning(Scenario blocking) {
    return new Scenario(
        Pattern.SELECT_NOW, WaitStrategy.SELECT_NOW, blocking.sizeBytes(), 1, Flight.TURN);
  }

  private void judgeOneway(Scenario scenario) {
    boolean small = scenario.sizeBytes() == Plan.SMALL;
    double ratio = ratio(ScenarioFigures.quantity(scenario), scenario.id(), scenario.id());
    if (scenario.connections() == 1
        && (small || scenario.sizeBytes() == Plan.LARGE)
        && !Double.isNaN(ratio)) {
      double times = small ? ONEWAY_SMALL_TIMES : ONEWAY_LARGE_TIMES;
      found.judge(scenario.id(), Target.ratio(times, ratio, ""));
    }
  }

  /** Returns how many times better Talaria is in one measure than the JDK in another, or NaN. */
  private double ratio(Quantity quantity, String jdkId, String talariaId) {
    Spread jdk = found.spread(jdkId, Implementation.JDK);
    Spread talaria = found.spread(talariaId, Implementation.TALARIA);
    return jdk == null || talaria == null
        ? Double.NaN
        : quantity.ratio(jdk.median(), talaria.median());
  }

  private void judgeGrowth(String id, double times) {
    hold(id + "/growth", Spread::median, times, Quantity.TIMES, Target::atMost);
    hold(id + "/shm", Spread::max, SHM_BYTES, Quantity.BYTES, Target::atMost);
    hold(id + "/mapped", Spread::max, SHM_BYTES, Quantity.BYTES, Target::atMost);
  }

  /** Makes a target of a limit and of what was reached. */
  private interface Limit {
    Target of(double limit, double reached, Quantity quantity);
  }

  private static Target nothing(double limit, double reached, Quantity quantity) {
    return Target.nothing(reached);
  }

  private void hold(
      String id, ToDoubleFunction<Spread> which, double limit, Quantity quantity, Limit target) {
    Spread talaria = found.spread(id, Implementation.TALARIA);
    if (talaria != null) {
      found.judge(id, target.of(limit, which.applyAsDouble(talaria), quantity));
    }
  }

  /** Judges Talaria on UCX, held against what UCX does in C over the same transports. */
  void judgeOnUcx() {
    judgeOnUcx(
        Pattern.BLOCKING.word() + "/" + Plan.SMALL + "B/p50",
        times -> new Target("≤ 2.5× UCX in C", times, times <= UCX_ROUND_TRIP_TIMES));
    judgeOnUcx(
        Pattern.ONEWAY.word() + "/" + Plan.LARGE + "B",
        times -> new Target("≥ 0.5× UCX in C", times, times >= UCX_ONEWAY_TIMES));
  }

  private void judgeOnUcx(String id, DoubleFunction<Target> target) {
    double times = found.timesUcx(id);
    if (!Double.isNaN(times)) {
      found.judge(id, target.apply(times));
    }
  }

  /** Judges Talaria by JUCX beside Talaria without, where both were measured, and the JDK. */
  void judgeByJucx() {
    String trip = Pattern.BLOCKING.word() + "/" + Plan.SMALL + "B/p50";
    judgeByJucx(
        trip,
        1 / byJucx(Quantity.TIME, trip, Implementation.TALARIA),
        times -> new Target("≤ 3× FFM", times, times <= JUCX_ROUND_TRIP_TIMES));
    for (Pattern pattern : List.of(Pattern.SELECT_NOW, Pattern.SELECT)) {
      judgeConnectionsByJucx(pattern);
    }
    String oneway = Pattern.ONEWAY.word() + "/" + Plan.LARGE + "B";
    judgeByJucx(
        oneway,
        byJucx(Quantity.GIGABYTES_PER_SECOND, oneway, Implementation.TALARIA),
        times -> new Target("≥ 0.6× FFM", times, times >= JUCX_ONEWAY_SHARE));
    for (WaitStrategy waiting : WaitStrategy.values()) {
      String id = new Scenario(Pattern.ALLOC, waiting, Plan.SMALL, 1, Flight.TURN).id();
      for (String side : List.of("/client", "/server")) {
        Spread jucx = found.spread(id + side, Implementation.TALARIA_BY_JUCX);
        if (jucx != null) {
          found.judgeByJucx(id + side, Target.atMost(JUCX_TRIP_BYTES, jucx.max(), Quantity.BYTES));
        }
      }
    }
  }

  /** As many trips are under way all the time, so times tell how many there are in a second. */
  private void judgeConnectionsByJucx(Pattern pattern) {
    String id = pattern.word() + "/" + Plan.SMALL + "B/" + JUCX_CONNECTIONS + "-in-flight/p50";
    judgeByJucx(
        id,
        byJucx(Quantity.TIME, id, Implementation.TALARIA),
        times -> new Target("≥ 0.33× FFM", times, times >= JUCX_CONNECTIONS_SHARE));
    judgeByJucx(
        id,
        byJucx(Quantity.TIME, id, Implementation.JDK),
        times -> new Target("> 1× JDK", times, times > 1));
  }

  /** Returns how many times better it is by JUCX than another way, or NaN. */
  private double byJucx(Quantity quantity, String id, Implementation other) {
    Spread baseline = found.spread(id, other);
    Spread jucx = found.spread(id, Implementation.TALARIA_BY_JUCX);
    return baseline == null || jucx == null
        ? Double.NaN
        : quantity.ratio(baseline.median(), jucx.median());
  }

  private void judgeByJucx(String id, double times, DoubleFunction<Target> target) {
    if (!Double.isNaN(times)) {
      found.judgeByJucx(id, target.apply(times));
    }
  }
}

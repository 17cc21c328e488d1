// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Quantity;
import org.HdrHistogram.Histogram;

/**
 * Adds what a run of a scenario has found to a comparison: which figures a pattern has, and how
 * they are called.
 *
 * @param run what was found
 * @param implementation the implementation whose sockets are used
 * @param into where to add it
 */
record ScenarioFigures(ScenarioRun run, Implementation implementation, Comparison into) {
  static final int LARGE_BYTES = 4_096;

  /** Adds all of it. */
  void add() {
    Scenario scenario = run.scenario();
    switch (scenario.pattern()) {
      case BLOCKING, SELECT_NOW, SELECT -> addTimes("", "", Measured.ROUND_TRIP);
      case WAKE -> {
        addTimes("", "", Measured.ROUND_TRIP);
        add("/cpu", ", CPU of both a trip", Quantity.TIME, run.value(Measured.CPU_PER_TRIP));
      }
      case COLD -> {
        add("/rate", ", first second", Quantity.PER_SECOND, run.value(Measured.TRIPS_PER_SECOND));
        addTimes("", "", Measured.ROUND_TRIP);
        addTime("/start", ", JVM start to 10,000 echoes", Measured.START_TO_ECHOES_NS);
      }
      case ONEWAY -> add("", "", quantity(scenario), run.value(oneway(scenario)));
      case IDLE -> add("", ", CPU of both JVMs", Quantity.PERCENT, run.value(Measured.IDLE_CPU));
      case MANY -> addMany();
      case SCALE -> addScale();
      case ALLOC -> {
        addBytes("/client", ", client, a trip", Measured.CLIENT_ALLOCATED);
        addBytes("/server", ", server, a trip", Measured.SERVER_ALLOCATED);
      }
    }
    into.addTransports(scenario.label(), implementation, run.client().transports());
    into.addRun(scenario.id(), scenario.label(), implementation, run.client().rested(), run);
  }

  /**
   * Returns what a scenario one way is shown in: small messages are counted, large ones weighed.
   */
  static Quantity quantity(Scenario scenario) {
    return scenario.sizeBytes() >= LARGE_BYTES
        ? Quantity.GIGABYTES_PER_SECOND
        : Quantity.PER_SECOND;
  }

  private static String oneway(Scenario scenario) {
    return quantity(scenario) == Quantity.PER_SECOND
        ? Measured.MESSAGES_PER_SECOND
        : Measured.GIGABYTES_PER_SECOND;
  }

  private void addMany() {
    addTimes("/one", " with one", Measured.ROUND_TRIP_ONE);
    addTimes("/all", " with all", Measured.ROUND_TRIP);
    addGrowth(", all against one", run.medianNs(Measured.ROUND_TRIP_ONE));
    addSharedMemory();
  }

  private void addScale() {
    addTime("/connect", ", connect", Measured.CONNECT_NS);
    addTime("/set-up", ", set up, each echoed", Measured.SET_UP_NS);
    addTime("/visit", ", an echo on each in turn", Measured.VISIT_NS);
    addTime("/tear-down", ", close", Measured.TEAR_DOWN_NS);
    addTimes("/one", " alone, before", Measured.ROUND_TRIP_ONE);
    addTimes("/again", " alone, after", Measured.ROUND_TRIP_ONE_AGAIN);
    addTimes("/all", " with the others idle", Measured.ROUND_TRIP);
    double alone =
        (run.medianNs(Measured.ROUND_TRIP_ONE) + run.medianNs(Measured.ROUND_TRIP_ONE_AGAIN)) / 2;
    addGrowth(", among idle ones against alone (mean)", alone);
    addSharedMemory();
    addBytes("/client", ", client memory each", Measured.CLIENT_MEMORY);
    addBytes("/server", ", server memory each", Measured.SERVER_MEMORY);
    addCount("/descriptors", ", descriptors each, both sides", Measured.DESCRIPTORS_PER_CONNECTION);
  }

  private void addSharedMemory() {
    addBytes("/shm", ", /dev/shm used each", Measured.SHM_PER_CONNECTION);
    addBytes("/mapped", ", /dev/shm mapped each", Measured.MAPPED_PER_CONNECTION);
    addCount("/mappings", ", mappings each", Measured.MAPPINGS_PER_CONNECTION);
  }

  private void addGrowth(String label, double aloneNs) {
    add("/growth", label, Quantity.TIMES, run.medianNs(Measured.ROUND_TRIP) / aloneNs);
  }

  private void addTime(String id, String label, String name) {
    add(id, label, Quantity.TIME, run.value(name));
  }

  private void addBytes(String id, String label, String name) {
    add(id, label, Quantity.BYTES, run.value(name));
  }

  private void addCount(String id, String label, String name) {
    add(id, label, Quantity.COUNT, run.value(name));
  }

  private void addTimes(String id, String label, String name) {
    Histogram histogram = run.histogram(name);
    if (histogram != null) {
      Scenario scenario = run.scenario();
      into.addTimes(scenario.id() + id, scenario.label() + label, implementation, histogram);
    }
  }

  private void add(String id, String label, Quantity quantity, double value) {
    Scenario scenario = run.scenario();
    into.add(scenario.id() + id, scenario.label() + label, quantity, implementation, value);
  }
}

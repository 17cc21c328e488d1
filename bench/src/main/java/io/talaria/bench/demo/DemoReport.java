// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.harness.Latencies.Percentiles;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;

/** What the demo found: the measures on both kinds of sockets. */
final class DemoReport {
  /**
   * One measure.
   *
   * @param id its name for machines
   * @param label its name for people
   * @param unit the unit of the plain numbers
   * @param jdk on the JDK's sockets
   * @param talaria on Talaria
   * @param ratio how many times better Talaria is
   */
  record Measure(String id, String label, String unit, double jdk, double talaria, double ratio) {}

  private final List<Measure> measures = new ArrayList<>();
  private final Table table = new Table("Netty 4.1", ">JDK sockets", ">Talaria", ">Ratio");

  DemoReport(DemoRun jdk, DemoRun talaria) {
    Percentiles before = Percentiles.of(jdk.histogram(DemoPhase.ROUND_TRIP));
    Percentiles after = Percentiles.of(talaria.histogram(DemoPhase.ROUND_TRIP));
    time("roundTripP50", "16 B round trip, p50", before.p50(), after.p50());
    time("roundTripP99", "16 B round trip, p99", before.p99(), after.p99());
    time("roundTripP999", "16 B round trip, p99.9", before.p999(), after.p999());
    rate("connections64", "Round trips, 64 connections", DemoPhase.CONNECTIONS, jdk, talaria);
    rate("oneway16", "Messages of 16 B one way", DemoPhase.SMALL, jdk, talaria);
    gigabytes(jdk, talaria);
    cpu("cpuMessage", "CPU time a message, 16 B one way", DemoPhase.SMALL, jdk, talaria);
    cpu("cpuRoundTrip", "CPU time a round trip, 64 conn.", DemoPhase.CONNECTIONS, jdk, talaria);
  }

  private void time(String id, String label, double jdk, double talaria) {
    add(new Measure(id, label, "ns", jdk, talaria, jdk / talaria), Units::time);
  }

  private void rate(String id, String label, DemoPhase phase, DemoRun jdk, DemoRun talaria) {
    double before = jdk.phase(phase).perSecond();
    double after = talaria.phase(phase).perSecond();
    add(new Measure(id, label, "1/s", before, after, after / before), Units::rate);
  }

  private void gigabytes(DemoRun jdk, DemoRun talaria) {
    double each = DemoPhase.LARGE.sizeBytes() / 1e9;
    double before = jdk.phase(DemoPhase.LARGE).perSecond() * each;
    double after = talaria.phase(DemoPhase.LARGE).perSecond() * each;
    add(
        new Measure("oneway64K", "64 KiB one way", "GB/s", before, after, after / before),
        value -> Units.figure(value) + " GB/s");
  }

  private void cpu(String id, String label, DemoPhase phase, DemoRun jdk, DemoRun talaria) {
    double before = jdk.cpuNsEach(phase);
    double after = talaria.cpuNsEach(phase);
    add(new Measure(id, label, "ns", before, after, before / after), Units::time);
  }

  private void add(Measure measure, DoubleFunction<String> format) {
    measures.add(measure);
    table.row(
        measure.label(),
        format.apply(measure.jdk()),
        format.apply(measure.talaria()),
        Units.times(measure.ratio()));
  }

  List<Measure> measures() {
    return List.copyOf(measures);
  }

  /** Returns the table for people. */
  String text() {
    return table.render();
  }

  /** Returns the values for {@link io.talaria.cli.harness.Json}. */
  Map<String, Object> json(Object environment) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("format", "talaria-demo-1");
    json.put("environment", environment);
    json.put("measures", measures);
    return json;
  }
}

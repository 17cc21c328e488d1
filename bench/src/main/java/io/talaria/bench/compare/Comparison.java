// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.ModeProbe;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import io.talaria.cli.harness.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * What was found by the contenders compared: figures and times of each round, targets, and the
 * roads that connections took. Not for use by several threads.
 */
public final class Comparison {
  private final List<Contender> contenders;
  private final Map<String, Gathered> measures = new LinkedHashMap<>();
  private final List<Distribution> times = new ArrayList<>();
  private final List<Run> runs = new ArrayList<>();
  private final Map<String, Set<String>> roads = new LinkedHashMap<>();
  private final List<String> notes = new ArrayList<>();
  private final List<Judged> byJucx = new ArrayList<>();
  private final List<Missing> missing = new ArrayList<>();

  /** In how many rounds compilers were busy when measuring began. */
  private final Map<String, Integer> compiling = new LinkedHashMap<>();

  /**
   * Creates an empty comparison.
   *
   * @param contenders who is compared; if it is only one, there are no ratios
   */
  public Comparison(List<? extends Contender> contenders) {
    this.contenders = List.copyOf(contenders);
  }

  /** What was held against a target beside that of its measure. */
  record Judged(String label, Target target) {}

  /**
   * A figure that a round should have given and has not.
   *
   * @param label what was measured
   * @param contender whose figure it is
   * @param round in which round, from 1
   * @param cause why
   */
  public record Missing(String label, Contender contender, int round, String cause) {}

  /** The figures of a measure. */
  static final class Gathered {
    private final String label;
    private final Quantity quantity;
    private final Map<Contender, List<Double>> values = new LinkedHashMap<>();
    private Target target;

    private Gathered(String label, Quantity quantity) {
      this.label = label;
      this.quantity = quantity;
    }

    String label() {
      return label;
    }

    Quantity quantity() {
      return quantity;
    }

    Target target() {
      return target;
    }

    Spread spread(Contender contender) {
      List<Double> found = values.get(contender);
      return found == null ? null : Spread.of(found);
    }

    private double median(Contender contender) {
      Spread spread = spread(contender);
      return spread == null || spread.median() <= 0 ? Double.NaN : spread.median();
    }

    /** Returns how many times better Talaria's median is than the JDK's, or NaN. */
    double ratio() {
      return quantity.ratio(median(Contender.JDK), median(Contender.TALARIA));
    }

    /** Returns how many times better the median by JUCX is than the JDK's, or NaN. */
    double ratioOfJucxToJdk() {
      return quantity.ratio(median(Contender.JDK), median(Contender.TALARIA_BY_JUCX));
    }

    /** Returns how many times better the median by JUCX is than Talaria's without, or NaN. */
    double ratioByJucx() {
      return quantity.ratio(median(Contender.TALARIA), median(Contender.TALARIA_BY_JUCX));
    }

    /**
     * Returns Talaria's figure as a multiple of ucx_perftest's, or NaN: the median of the rounds'
     * ratios if each round has both, because both had the same share of what the machine did then.
     */
    double timesUcx() {
      List<Double> talaria = values.getOrDefault(Contender.TALARIA, List.of());
      List<Double> ucx = values.getOrDefault(Contender.UCX_IN_C, List.of());
      if (talaria.isEmpty() || talaria.size() != ucx.size()) {
        return median(Contender.TALARIA) / median(Contender.UCX_IN_C);
      }
      return Spread.of(
              IntStream.range(0, ucx.size()).mapToObj(i -> talaria.get(i) / ucx.get(i)).toList())
          .median();
    }

    private Measure measure(String id) {
      return new Measure(
          id,
          label,
          quantity.unit(),
          spread(Contender.JDK),
          spread(Contender.TALARIA),
          Json.number(ratio()),
          spread(Contender.UCX_IN_C),
          Json.number(timesUcx()),
          target,
          values);
    }
  }

  /**
   * Adds what one round of a trial has found.
   *
   * @param id the trial's name for machines
   * @param label its name for people
   * @param contender on which road
   * @param found what was found
   */
  public void add(String id, String label, Contender contender, Found found) {
    add(id + "/rate", label, Quantity.PER_SECOND, contender, found.perSecond());
    if (found.bytes() > 0) {
      Quantity quantity = Quantity.GIGABYTES_PER_SECOND;
      add(id + "/bytes", label, quantity, contender, found.gigabytesPerSecond());
    }
    Histogram histogram = found.times();
    if (histogram != null) {
      addTimes(id, label, contender, histogram);
    }
  }

  /**
   * Adds a round as it was found.
   *
   * @param id the name for machines of what was measured
   * @param label its name for people
   * @param contender on which road
   * @param rested whether compilers rested when measuring began
   * @param found what was found: a record
   */
  public void addRun(String id, String label, Contender contender, boolean rested, Object found) {
    runs.add(new Run(id, contender, rested, found));
    if (!rested) {
      compiling.merge(label + " on " + contender.label(), 1, Integer::sum);
    }
  }

  /**
   * Adds a line to the conditions that the report begins with.
   *
   * @param line the line
   */
  public void note(String line) {
    notes.add(line);
  }

  /** Returns the lines that were added to the conditions. */
  public List<String> notes() {
    return List.copyOf(notes);
  }

  /**
   * Adds which roads the connections of a round took, to be shown if they were Talaria's.
   *
   * @param label what they did
   * @param contender on which road they should be
   * @param taken what they took
   */
  public void addRoads(String label, Contender contender, ModeProbe.Roads taken) {
    if (contender.onTalaria()) {
      String whose = contender == Contender.TALARIA ? label : label + " by JUCX";
      roads.computeIfAbsent(whose, key -> new LinkedHashSet<>()).add(taken.describe());
    }
  }

  /**
   * Adds a figure of one round.
   *
   * @param id its name for machines
   * @param label its name for people
   * @param quantity what it is
   * @param contender whose it is
   * @param value the figure; one that does not exist (NaN) is left out
   */
  public void add(String id, String label, Quantity quantity, Contender contender, double value) {
    if (!Double.isNaN(value)) {
      measures
          .computeIfAbsent(id, key -> new Gathered(label, quantity))
          .values
          .computeIfAbsent(contender, key -> new ArrayList<>())
          .add(value);
    }
  }

  /**
   * Adds that a round has no figure of a contender: the others' figures stand, and the benchmark
   * has failed in this.
   *
   * @param one what, whose and why
   */
  public void addMissing(Missing one) {
    missing.add(one);
  }

  /** Returns what has no figure. */
  public List<Missing> missing() {
    return List.copyOf(missing);
  }

  /**
   * Adds the times of one round, and their median as a measure of its own.
   *
   * @param id the name for machines of what was timed
   * @param label its name for people
   * @param contender on which road
   * @param histogram the times, in nanoseconds
   */
  public void addTimes(String id, String label, Contender contender, Histogram histogram) {
    double median = histogram.getValueAtPercentile(50);
    add(id + "/p50", label + ", p50", Quantity.TIME, contender, median);
    int before =
        (int)
            times.stream()
                .filter(one -> one.id().equals(id) && one.contender().equals(contender))
                .count();
    times.add(Distribution.of(id, label, contender, before + 1, histogram));
  }

  /**
   * Returns the figures of a measure.
   *
   * @param id its name for machines
   * @param contender whose
   * @return median and range of the rounds; null if there are none
   */
  public Spread spread(String id, Contender contender) {
    Gathered measure = measures.get(id);
    return measure == null ? null : measure.spread(contender);
  }

  /**
   * Returns the figures of a measure, round by round.
   *
   * @param id its name for machines
   * @param contender whose
   * @return none if there are none
   */
  public List<Double> values(String id, Contender contender) {
    Gathered measure = measures.get(id);
    return measure == null
        ? List.of()
        : List.copyOf(measure.values.getOrDefault(contender, List.of()));
  }

  /**
   * Returns Talaria's figure as a multiple of ucx_perftest's.
   *
   * @param id the measure
   * @return NaN if one of them is missing
   */
  public double timesUcx(String id) {
    Gathered measure = measures.get(id);
    return measure == null ? Double.NaN : measure.timesUcx();
  }

  /**
   * Says what Talaria had to reach in a measure; nothing happens if it was not measured.
   *
   * @param id the measure
   * @param target what, and whether it has; null if nothing is asked
   */
  public void judge(String id, Target target) {
    Gathered measure = measures.get(id);
    if (measure != null) {
      measure.target = target;
    }
  }

  /**
   * Says what Talaria by JUCX had to reach in a measure, which may have several such targets;
   * nothing happens if it was not measured.
   *
   * @param id the measure
   * @param target what, and whether it has
   */
  public void judgeByJucx(String id, Target target) {
    Gathered measure = measures.get(id);
    if (measure != null) {
      byJucx.add(new Judged(measure.label, target));
    }
  }

  /** Returns how many targets there are. */
  public long judged() {
    return targets().count();
  }

  /** Returns how many targets were missed. */
  public long missed() {
    return targets().filter(target -> !target.met()).count();
  }

  private Stream<Target> targets() {
    return Stream.concat(
        measures.values().stream().map(measure -> measure.target).filter(Objects::nonNull),
        byJucx.stream().map(Judged::target));
  }

  List<Judged> byJucx() {
    return byJucx;
  }

  /**
   * Returns the times of all rounds together.
   *
   * @param id what was timed
   * @param contender on which road
   * @return a new histogram; null if there are none
   */
  public Histogram merged(String id, Contender contender) {
    Histogram sum = null;
    for (Distribution one : times) {
      if (one.id().equals(id) && one.contender().equals(contender)) {
        sum = sum == null ? Latencies.histogram() : sum;
        sum.add(one.histogram());
      }
    }
    return sum;
  }

  List<Contender> contenders() {
    return contenders;
  }

  List<Gathered> measures() {
    return List.copyOf(measures.values());
  }

  List<Distribution> times() {
    return List.copyOf(times);
  }

  Map<String, Set<String>> roads() {
    return roads;
  }

  Map<String, Integer> compiling() {
    return compiling;
  }

  /**
   * Returns all of it as files have it.
   *
   * @param format the name of the format
   * @param machine the conditions
   * @param options what was asked for
   */
  public Result result(String format, Machine machine, Map<String, Object> options) {
    List<Measure> rows = new ArrayList<>();
    measures.forEach((id, measure) -> rows.add(measure.measure(id)));
    return new Result(
        format, machine, options, missed(), rows, times(), List.copyOf(runs), missing());
  }
}

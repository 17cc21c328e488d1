// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.cli.Complaint;
import io.talaria.cli.harness.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * What was found by the implementations compared: figures and times of each iteration, targets, and
 * the transports that connections took. Not for use by several threads.
 */
public final class Comparison {
  private static final String UNFINISHED =
      "\nCompilers were still busy when measuring began, a longer --warm-up helps:\n";

  /** What tables show in place of a figure that should be there. */
  public static final String FAILED = "failed";

  private final List<Implementation> implementations;
  private final Map<String, Gathered> measures = new LinkedHashMap<>();
  private final List<Distribution> times = new ArrayList<>();
  private final List<Run> runs = new ArrayList<>();
  private final Map<String, Set<String>> transports = new LinkedHashMap<>();
  private final List<String> notes = new ArrayList<>();
  private final List<Judged> byJucx = new ArrayList<>();
  private final List<Missing> missing = new ArrayList<>();

  /** What is measured now and in which iteration; empty and 0 if nothing is being measured. */
  private String benchmarkCase = "";

  private int iteration;

  /** In how many iterations compilers were busy when measuring began. */
  private final Map<String, Integer> compiling = new LinkedHashMap<>();

  /**
   * Creates an empty comparison.
   *
   * @param implementations the implementations that are compared; if there is only one, there are
   *     no ratios
   */
  public Comparison(List<? extends Implementation> implementations) {
    this.implementations = List.copyOf(implementations);
  }

  /** What was held against a target beside that of its measure. */
  record Judged(String label, Target target) {}

  /**
   * A figure that an iteration should have given and has not.
   *
   * @param label what was measured
   * @param implementation the implementation that the figure belongs to
   * @param iteration in which iteration, from 1
   * @param cause why
   */
  public record Missing(String label, Implementation implementation, int iteration, String cause) {}

  /** The figure of an iteration. */
  private record Figure(int iteration, double value) {}

  /** The figures of a measure. */
  static final class Gathered {
    private final String benchmarkCase;
    private final String label;
    private final Quantity quantity;
    private final Map<Implementation, List<Figure>> values = new LinkedHashMap<>();
    private Target target;

    private Gathered(String benchmarkCase, String label, Quantity quantity) {
      this.benchmarkCase = benchmarkCase.isEmpty() ? label : benchmarkCase;
      this.label = label;
      this.quantity = quantity;
    }

    /**
     * Returns the label of what was measured when it was found, which may give several measures.
     */
    String benchmarkCase() {
      return benchmarkCase;
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

    Spread spread(Implementation implementation) {
      List<Double> found = values(implementation);
      return found.isEmpty() ? null : Spread.of(found);
    }

    private List<Double> values(Implementation implementation) {
      return values.getOrDefault(implementation, List.of()).stream().map(Figure::value).toList();
    }

    private List<Integer> iterations(Implementation implementation) {
      return values.getOrDefault(implementation, List.of()).stream()
          .map(Figure::iteration)
          .toList();
    }

    /** Returns the figures of all, each at the place of its iteration; null is for one without. */
    private Map<Implementation, List<Double>> byIterations() {
      Map<Implementation, List<Double>> all = new LinkedHashMap<>();
      values.forEach(
          (implementation, figures) -> {
            List<Double> places = new ArrayList<>();
            for (Figure figure : figures) {
              while (places.size() < figure.iteration - 1) {
                places.add(null);
              }
              places.add(figure.value);
            }
            all.put(implementation, places);
          });
      return all;
    }

    /**
     * Returns the ratios of two implementations' figures in the iterations; that of the medians
     * alone if they do not have the same iterations.
     */
    private List<Double> ratios(Implementation one, Implementation other) {
      List<Double> ones = values(one);
      List<Double> others = values(other);
      if (ones.isEmpty() || others.isEmpty()) {
        return List.of(Double.NaN);
      }
      if (!iterations(one).equals(iterations(other))) {
        return List.of(spread(one).median() / spread(other).median());
      }
      return IntStream.range(0, ones.size()).mapToObj(i -> ones.get(i) / others.get(i)).toList();
    }

    private double median(Implementation implementation) {
      Spread spread = spread(implementation);
      return spread == null || spread.median() <= 0 ? Double.NaN : spread.median();
    }

    /** Returns how many times better Talaria's median is than the JDK's, or NaN. */
    double ratio() {
      return ratioToJdk(Implementation.TALARIA);
    }

    /** Returns how many times better the median of an implementation is than the JDK's, or NaN. */
    double ratioToJdk(Implementation implementation) {
      return quantity.ratio(median(Implementation.JDK), median(implementation));
    }

    /** Returns how many times better the median by JUCX is than Talaria's without, or NaN. */
    double ratioByJucx() {
      return quantity.ratio(median(Implementation.TALARIA), median(Implementation.TALARIA_BY_JUCX));
    }

    /**
     * Returns Talaria's figure as a multiple of ucx_perftest's, or NaN: the median of the
     * iterations' ratios if each iteration has both, because both had the same share of what the
     * machine did then.
     */
    double timesUcx() {
      return Spread.of(ratios(Implementation.TALARIA, Implementation.UCX_IN_C)).median();
    }

    private Measure measure(String id) {
      return new Measure(
          id,
          label,
          quantity.unit(),
          spread(Implementation.JDK),
          spread(Implementation.TALARIA),
          Json.number(ratio()),
          spread(Implementation.UCX_IN_C),
          Json.number(timesUcx()),
          target,
          byIterations());
    }
  }

  /**
   * Says what is measured from now on, to which the figures belong that are added.
   *
   * @param label its name to be displayed; empty if it is nothing in particular
   * @param number in which iteration, from 1; 0 if figures tell their iterations by their order
   */
  void begin(String label, int number) {
    benchmarkCase = label;
    iteration = number;
  }

  /** Returns in which iteration something is found of which so many were found before. */
  private int iteration(int before) {
    return iteration > 0 ? iteration : before + 1;
  }

  /** Adds all that another comparison has found, with its iterations. */
  void addAll(Comparison other) {
    other.measures.forEach(
        (id, theirs) -> {
          Gathered own =
              measures.computeIfAbsent(
                  id, key -> new Gathered(theirs.benchmarkCase, theirs.label, theirs.quantity));
          theirs.values.forEach(
              (implementation, figures) ->
                  own.values
                      .computeIfAbsent(implementation, key -> new ArrayList<>())
                      .addAll(figures));
          own.target = theirs.target == null ? own.target : theirs.target;
        });
    other.transports.forEach(
        (whose, taken) ->
            transports.computeIfAbsent(whose, key -> new LinkedHashSet<>()).addAll(taken));
    other.compiling.forEach((what, times) -> compiling.merge(what, times, Integer::sum));
    times.addAll(other.times);
    runs.addAll(other.runs);
    notes.addAll(other.notes);
    byJucx.addAll(other.byJucx);
    missing.addAll(other.missing);
  }

  /**
   * Adds what one iteration of a trial has found.
   *
   * @param id the trial's name for machines
   * @param label its name to be displayed
   * @param implementation the implementation that was measured
   * @param found what was found
   */
  public void add(String id, String label, Implementation implementation, Found found) {
    add(id + "/rate", label, Quantity.PER_SECOND, implementation, found.perSecond());
    if (found.bytes() > 0) {
      Quantity quantity = Quantity.GIGABYTES_PER_SECOND;
      add(id + "/bytes", label, quantity, implementation, found.gigabytesPerSecond());
    }
    Histogram histogram = found.times();
    if (histogram != null) {
      addTimes(id, label, implementation, histogram);
    }
  }

  /**
   * Adds an iteration as it was found.
   *
   * @param id the name for machines of what was measured
   * @param label its name to be displayed
   * @param implementation the implementation that was measured
   * @param rested whether compilers rested when measuring began
   * @param found what was found: a record
   */
  public void addRun(
      String id, String label, Implementation implementation, boolean rested, Object found) {
    runs.add(new Run(id, implementation, rested, found));
    if (!rested) {
      compiling.merge(label + " on " + implementation.label(), 1, Integer::sum);
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
   * Adds which transports the connections of an iteration took, to be shown if they were Talaria's.
   *
   * @param label what they did
   * @param implementation which transport they should take
   * @param taken what they took
   */
  public void addTransports(
      String label, Implementation implementation, TransportProbe.Transports taken) {
    if (implementation.onTalaria()) {
      String whose =
          implementation == Implementation.TALARIA_BY_JUCX
              ? label + " by JUCX"
              : implementation == Implementation.TALARIA_ON_TCP ? label + " on TCP" : label;
      transports.computeIfAbsent(whose, key -> new LinkedHashSet<>()).add(taken.describe());
    }
  }

  /**
   * Adds a figure of one iteration.
   *
   * @param id its name for machines
   * @param label its name to be displayed
   * @param quantity what it is
   * @param implementation the implementation that it belongs to
   * @param value the figure; one that does not exist (NaN) is left out
   */
  public void add(
      String id, String label, Quantity quantity, Implementation implementation, double value) {
    if (!Double.isNaN(value)) {
      List<Figure> figures =
          measures
              .computeIfAbsent(id, key -> new Gathered(benchmarkCase, label, quantity))
              .values
              .computeIfAbsent(implementation, key -> new ArrayList<>());
      figures.add(new Figure(iteration(figures.size()), value));
    }
  }

  /**
   * Adds that an iteration has no figure of an implementation: the others' figures stand, and the
   * benchmark has failed in this.
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
   * Returns in how many iterations an implementation has no figure of something.
   *
   * @param label what was measured, as {@link BenchmarkCase#label} says it
   * @param implementation the implementation
   */
  public long failed(String label, Implementation implementation) {
    return failures(label, implementation).count();
  }

  private Stream<Missing> failures(String label, Implementation implementation) {
    return missing.stream()
        .filter(one -> one.label().equals(label) && one.implementation().equals(implementation));
  }

  /**
   * Returns the figures of a measure as a table has them: their median with the range, and in how
   * many iterations there is none though there should be.
   *
   * @param id its name for machines
   * @param label what was measured, as {@link BenchmarkCase#label} says it
   * @param implementation the implementation
   * @param figure what is shown of them
   * @return empty if there are none and should be none
   */
  public String cell(
      String id, String label, Implementation implementation, Function<Spread, String> figure) {
    Gathered measure = measures.get(id);
    return measure == null
        ? failed(label, implementation) > 0 ? FAILED : ""
        : cell(measure, implementation, figure);
  }

  String cell(Gathered measure, Implementation implementation) {
    return cell(measure, implementation, measure.quantity()::format);
  }

  private String cell(
      Gathered measure, Implementation implementation, Function<Spread, String> figure) {
    // What failed may have given this figure before.
    List<Integer> iterations = measure.iterations(implementation);
    long failed =
        failures(measure.benchmarkCase, implementation)
            .filter(one -> !iterations.contains(one.iteration()))
            .count();
    if (iterations.isEmpty()) {
      return failed > 0 ? FAILED : "";
    }
    return figure.apply(measure.spread(implementation))
        + (failed > 0 ? ", " + failed + " " + FAILED : "");
  }

  /** Returns what should have been measured and has no figure at all, by its label. */
  Set<String> unmeasured() {
    Set<String> labels = new LinkedHashSet<>();
    missing.forEach(one -> labels.add(one.label()));
    measures.values().forEach(one -> labels.remove(one.benchmarkCase()));
    return labels;
  }

  /**
   * Returns what has no figure and why, as text for the user; empty if there is nothing missing.
   *
   * @param all whether causes are told in full, however long they are
   */
  public String missingText(boolean all) {
    StringBuilder out = new StringBuilder(missing.isEmpty() ? "" : "\nMissing:\n");
    for (Missing one : missing) {
      String cause = all ? one.cause() : new Complaint(one.cause()).brief();
      out.append("  ").append(one.label()).append(", ").append(one.implementation().label());
      out.append(", iteration ").append(one.iteration()).append(": ");
      out.append(cause.replace("\n", "\n    ")).append('\n');
    }
    return out.toString();
  }

  /**
   * Adds the times of one iteration, and their median as a measure of its own.
   *
   * @param id the name for machines of what was timed
   * @param label its name to be displayed
   * @param implementation the implementation that was measured
   * @param histogram the times, in nanoseconds
   */
  public void addTimes(
      String id, String label, Implementation implementation, Histogram histogram) {
    double median = histogram.getValueAtPercentile(50);
    add(id + "/p50", label + ", p50", Quantity.TIME, implementation, median);
    int before =
        (int)
            times.stream()
                .filter(one -> one.id().equals(id) && one.implementation().equals(implementation))
                .count();
    times.add(Distribution.of(id, label, implementation, iteration(before), histogram));
  }

  /**
   * Returns the figures of a measure.
   *
   * @param id its name for machines
   * @param implementation the implementation
   * @return median and range of the iterations; null if there are none
   */
  public Spread spread(String id, Implementation implementation) {
    Gathered measure = measures.get(id);
    return measure == null ? null : measure.spread(implementation);
  }

  /**
   * Returns the figures of a measure, iteration by iteration.
   *
   * @param id its name for machines
   * @param implementation the implementation
   * @return none if there are none
   */
  public List<Double> values(String id, Implementation implementation) {
    Gathered measure = measures.get(id);
    return measure == null ? List.of() : measure.values(implementation);
  }

  /**
   * Returns how many times one's figure is another's, iteration by iteration, because both had the
   * same share of what the machine did in an iteration; the ratio of the medians alone if one of
   * them lacks an iteration that the other has.
   *
   * @param id the measure
   * @param one whose figures
   * @param other by whose they are divided
   * @return none if one of them has no figure
   */
  public List<Double> ratios(String id, Implementation one, Implementation other) {
    Gathered measure = measures.get(id);
    return measure == null || measure.spread(one) == null || measure.spread(other) == null
        ? List.of()
        : measure.ratios(one, other);
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
   * Returns the times of all iterations together.
   *
   * @param id what was timed
   * @param implementation the implementation that was measured
   * @return a new histogram; null if there are none
   */
  public Histogram merged(String id, Implementation implementation) {
    Histogram sum = null;
    for (Distribution one : times) {
      if (one.id().equals(id) && one.implementation().equals(implementation)) {
        sum = sum == null ? Latencies.histogram() : sum;
        sum.add(one.histogram());
      }
    }
    return sum;
  }

  List<Implementation> implementations() {
    return implementations;
  }

  List<Gathered> measures() {
    return List.copyOf(measures.values());
  }

  List<Distribution> times() {
    return List.copyOf(times);
  }

  Map<String, Set<String>> transports() {
    return transports;
  }

  /**
   * Returns in which cases compilers were busy when measuring began, as text for the user; empty if
   * in none.
   */
  public String compilingText() {
    StringBuilder out = new StringBuilder(compiling.isEmpty() ? "" : UNFINISHED);
    compiling.forEach(
        (what, count) ->
            out.append("  ")
                .append(what)
                .append(count == 1 ? "" : ", " + count + " iterations")
                .append('\n'));
    return out.toString();
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

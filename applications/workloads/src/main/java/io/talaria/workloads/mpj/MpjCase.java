// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A pattern in all its sizes. The cores of a virtual machine may move apart and together again,
 * which changes everything by a factor: an iteration in which the baseline before all others and
 * after them differ too much is measured again, unless the engine watches the distance between the
 * cores itself. Used by one thread.
 */
final class MpjCase implements BenchmarkCase {
  private static final int TRIES = 3;
  private static final double UNREST = 1.25;

  private final MpjLaunch launch;
  private final MpjJob job;
  private final List<MpjImplementation> implementations;
  private final boolean watched;
  private final boolean alone;
  private final Map<MpjImplementation, MpjFound> figures = new EnumMap<>(MpjImplementation.class);
  private final Map<MpjImplementation, String> failures = new EnumMap<>(MpjImplementation.class);

  /**
   * What the baseline tells of the machine in an iteration.
   *
   * @param unrest how many times its figures before and after differ, the larger by the smaller;
   *     the median over the sizes
   * @param tries how often the iteration was measured
   */
  record Rest(double unrest, int tries) {}

  /**
   * Creates the case.
   *
   * @param launch starts the ranks
   * @param job what they do
   * @param implementations those who can be run here, in the order of the iterations
   * @param watched whether iterations are measured again if the machine changes
   * @param alone whether each implementation counts for itself, in whatever order they come: the
   *     engine measures one again that was measured at another distance, and nothing is watched
   *     here
   */
  MpjCase(
      MpjLaunch launch,
      MpjJob job,
      List<MpjImplementation> implementations,
      boolean watched,
      boolean alone) {
    this.launch = launch;
    this.job = job;
    this.implementations =
        implementations.stream().filter(one -> one.does(job.pattern(), job.ranks())).toList();
    // What is hidden may be nothing, so it says nothing of the machine.
    this.watched = watched && !alone && job.pattern() != MpjPattern.OVERLAP;
    this.alone = alone;
  }

  MpjJob job() {
    return job;
  }

  @Override
  public String label() {
    return job.pattern().title()
        + (job.pattern().kernel() == null ? "" : ", class " + job.problem())
        + (job.ranks() == 2 ? "" : job.ranks() == 1 ? ", 1 rank" : ", " + job.ranks() + " ranks");
  }

  /**
   * Returns the name for machines of a figure.
   *
   * @param bytes which size
   */
  String id(int bytes) {
    return job.pattern()
        + (bytes == 0 ? "" : "/" + bytes)
        + (job.pattern().kernel() == null ? "" : "/" + job.problem())
        + (job.ranks() == 2 ? "" : "/" + job.ranks() + "-ranks");
  }

  /** Returns the name for machines of the part of a kernel's time that goes into messages. */
  String communicationId() {
    return id(0) + "/communication";
  }

  /**
   * Returns the name of a figure to be displayed.
   *
   * @param bytes which size
   */
  String label(int bytes) {
    return bytes == 0 ? label() : label() + ", " + Units.bytes(bytes);
  }

  @Override
  public double expectedMs() {
    return START_MS + 1.5e3 * job.sizes().size() * (2 * job.warmUpSeconds() + job.seconds());
  }

  @Override
  public double expectedMs(Implementation implementation) {
    return implementations.contains(implementation) ? expectedMs() : 0;
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    if (!(iteration.implementation() instanceof MpjImplementation implementation)
        || !implementations.contains(implementation)) {
      return;
    }
    if (alone || implementation == implementations.getFirst()) {
      figures.clear();
      failures.clear();
    }
    iteration.step(label(), expectedMs());
    measure(implementation);
    if (alone || implementation == implementations.getLast()) {
      Rest rest = watched ? settle(iteration) : new Rest(1, 1);
      keep(iteration, rest);
    }
  }

  /** An implementation that fails has no figure in this iteration; the others continue. */
  private void measure(MpjImplementation implementation) throws InterruptedException {
    try {
      figures.put(implementation, launch.measure(implementation, job));
      failures.remove(implementation);
    } catch (HarnessException e) {
      figures.remove(implementation);
      failures.put(implementation, e.getMessage());
    }
  }

  /** Measures the baseline once more, and all again if the machine has changed meanwhile. */
  private Rest settle(Iteration iteration) throws InterruptedException {
    MpjImplementation baseline = baseline();
    for (int tries = 1; ; tries++) {
      iteration.say(baseline + " again");
      MpjFound before = figures.getOrDefault(baseline, MpjFound.NOTHING);
      double unrest = unrest(before.figures(), again(baseline).figures());
      if (unrest <= UNREST || tries == TRIES) {
        return new Rest(unrest, tries);
      }
      iteration.say("restless (" + Units.times(unrest) + "), all again");
      for (MpjImplementation implementation : implementations) {
        measure(implementation);
      }
    }
  }

  /** Returns nothing if it failed this time. */
  private MpjFound again(MpjImplementation implementation) throws InterruptedException {
    try {
      return launch.measure(implementation, job);
    } catch (HarnessException e) {
      return MpjFound.NOTHING;
    }
  }

  private MpjImplementation baseline() {
    for (MpjImplementation one :
        List.of(MpjImplementation.OMPI_OB1, MpjImplementation.OMPI_UCX, MpjImplementation.MPICH)) {
      if (implementations.contains(one)) {
        return one;
      }
    }
    return implementations.getFirst();
  }

  /** Returns 1 where there is nothing to compare. */
  static double unrest(Map<Integer, Double> before, Map<Integer, Double> after) {
    if (before.isEmpty() || after.isEmpty()) {
      return 1;
    }
    List<Double> ratios = new ArrayList<>();
    before.forEach(
        (bytes, figure) -> {
          double other = after.getOrDefault(bytes, figure);
          ratios.add(Math.max(figure, other) / Math.min(figure, other));
        });
    return Spread.of(ratios).median();
  }

  private void keep(Iteration iteration, Rest rest) {
    Comparison found = iteration.found();
    Quantity quantity = job.pattern().quantity();
    for (int bytes : job.sizes()) {
      for (MpjImplementation implementation : implementations) {
        Map<Integer, Double> of = figures.getOrDefault(implementation, MpjFound.NOTHING).figures();
        double figure = of.getOrDefault(bytes, Double.NaN);
        found.add(id(bytes), label(bytes), quantity, implementation, figure);
      }
    }
    String label = label() + ", time in communication";
    for (Map.Entry<MpjImplementation, MpjFound> one : figures.entrySet()) {
      double percent = one.getValue().communication();
      found.add(communicationId(), label, Quantity.PERCENT, one.getKey(), percent);
    }
    failures.forEach((who, why) -> found.addMissing(iteration.missing(label(), who, why)));
    if (!alone) {
      found.addRun(id(0), label(), baseline(), true, rest);
    }
    if (rest.unrest() > UNREST) {
      found.note(
          label()
              + ", iteration "
              + iteration.number()
              + ": the machine changed by "
              + Units.times(rest.unrest())
              + " in each of "
              + rest.tries()
              + " tries");
    }
  }
}

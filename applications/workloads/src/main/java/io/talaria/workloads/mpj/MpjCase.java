// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Units;
import java.util.List;

/** A pattern in all its sizes. Used by one thread. */
final class MpjCase implements BenchmarkCase {
  private final MpjLaunch launch;
  private final MpjJob job;
  private final List<MpjImplementation> implementations;

  /**
   * Creates the case.
   *
   * @param launch starts the ranks
   * @param job what they do
   * @param implementations those who can be run here
   */
  MpjCase(MpjLaunch launch, MpjJob job, List<MpjImplementation> implementations) {
    this.launch = launch;
    this.job = job;
    this.implementations =
        implementations.stream().filter(one -> one.does(job.pattern(), job.ranks())).toList();
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

  /**
   * Returns the name for machines of the figure of the fastest block.
   *
   * @param bytes which size
   */
  String fastestId(int bytes) {
    return id(bytes) + "/fastest";
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
    iteration.step(label(), expectedMs());
    MpjFound own = launch.measure(implementation, job);
    Comparison found = iteration.found();
    Quantity quantity = job.pattern().quantity();
    for (int bytes : job.sizes()) {
      found.add(id(bytes), label(bytes), quantity, implementation, own.figures().get(bytes));
      Double fastest = own.fastest().get(bytes);
      if (fastest != null) {
        String label = label(bytes) + ", fastest block";
        found.add(fastestId(bytes), label, quantity, implementation, fastest);
      }
    }
    String label = label() + ", time in communication";
    found.add(communicationId(), label, Quantity.PERCENT, implementation, own.communication());
  }
}

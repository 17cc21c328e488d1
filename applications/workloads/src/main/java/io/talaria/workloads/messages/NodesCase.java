// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Blame;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.ChildSpec;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.HarnessException;
import io.talaria.workloads.messages.NodesJob.Go;
import io.talaria.workloads.messages.NodesJob.Known;
import io.talaria.workloads.messages.NodesJob.Went;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.wire.Encryption;
import io.talaria.workloads.messages.wire.MessagesImplementation;
import io.talaria.workloads.messages.wire.MessagesPattern;
import io.talaria.workloads.run.ScratchFolder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Objects between nodes, each in a new JVM; all begin together, as often as they are told. For
 * nodes alone: in the iterations of others it does nothing.
 *
 * @param pattern which nodes send to which others
 * @param nodes how many there are
 * @param sizeBytes the object
 * @param how they are sent and received
 * @param timing how long
 * @param pinning which cores they share, in turn
 */
record NodesCase(
    MessagesPattern pattern, int nodes, int sizeBytes, NodesHow how, Timing timing, Pinning pinning)
    implements MessagesShown {
  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** What all of one order comes to. */
  record Sum(long messages, long elapsedNs, boolean warm, boolean rested) {}

  private boolean connects() {
    return pattern == MessagesPattern.CONNECT;
  }

  @Override
  public String label() {
    String size = connects() ? "" : " " + Sizes.label(sizeBytes);
    return pattern + size + ", " + nodes + " nodes" + how.label();
  }

  private String id() {
    return pattern + (connects() ? "" : "/" + sizeBytes) + "/" + nodes + "-nodes" + how.id();
  }

  @Override
  public String measure() {
    return id() + (connects() ? "/time" : "/rate");
  }

  @Override
  public Quantity quantity() {
    return connects() ? Quantity.TIME : Quantity.PER_SECOND;
  }

  @Override
  public String times() {
    return null;
  }

  @Override
  public double expectedMs() {
    return START_MS * nodes + (connects() ? 0 : timing.expectedMs());
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    MessagesImplementation implementation = (MessagesImplementation) iteration.implementation();
    if (!implementation.ofNodes()) {
      return;
    }
    iteration.step(label(), expectedMs());
    Sum sum = measure(implementation);
    double value = connects() ? sum.elapsedNs : sum.messages * 1e9 / sum.elapsedNs;
    iteration.found().add(measure(), label(), quantity(), implementation, value);
    iteration.found().addRun(id(), label(), implementation, sum.rested, sum);
  }

  private Sum measure(MessagesImplementation implementation)
      throws HarnessException, InterruptedException {
    List<ChildSpec> specs = new ArrayList<>();
    for (int id = 1; id <= nodes; id++) {
      int core = id % 2 == 0 ? pinning.clientCore() : pinning.serverCore();
      specs.add(MessagesCase.spec("node " + id, NodesJvm.class, core));
    }
    try (ScratchFolder folder = ScratchFolder.makeInMemory()) {
      Encryption.prepare(implementation, folder.path());
      List<ChildJvm> jvms = Pair.startAll(specs, Implementation.JDK);
      try {
        return Blame.servers(jvms, () -> measure(jvms, implementation, folder.path().toString()));
      } finally {
        jvms.forEach(ChildJvm::close);
      }
    }
  }

  private Sum measure(List<ChildJvm> jvms, MessagesImplementation implementation, String directory)
      throws HarnessException, InterruptedException {
    for (int id = 1; id <= nodes; id++) {
      jvms.get(id - 1)
          .send(
              new NodesJob(id, nodes, implementation, pattern, sizeBytes, how, directory, timing));
    }
    List<Integer> ports = new ArrayList<>();
    for (ChildJvm each : jvms) {
      ports.add(each.await(NodesJvm.LISTENING, Integer.class, Orders.SILENCE));
    }
    for (ChildJvm each : jvms) {
      each.send(new Known(ports));
    }
    for (ChildJvm each : jvms) {
      each.await(NodesJvm.READY, Integer.class, Orders.SILENCE);
    }
    Sum sum = go(jvms, new Go(SLICE_NS, true), Orders.SILENCE);
    if (connects()) {
      return sum;
    }
    while (!sum.warm) {
      sum = go(jvms, new Go(SLICE_NS, true), Orders.SILENCE);
    }
    boolean rested = sum.rested;
    sum = go(jvms, new Go(timing.measureNs(), false), timing.limit());
    return new Sum(sum.messages, sum.elapsedNs, true, rested);
  }

  /** Has all begin, and waits for the last. */
  private static Sum go(List<ChildJvm> jvms, Go order, Duration silence)
      throws HarnessException, InterruptedException {
    for (ChildJvm each : jvms) {
      each.send(order);
    }
    Sum sum = new Sum(0, 0, true, true);
    for (ChildJvm each : jvms) {
      Went went = each.await(NodesJvm.WENT, Went.class, silence);
      sum =
          new Sum(
              sum.messages + went.messages(),
              Math.max(sum.elapsedNs, went.elapsedNs()),
              sum.warm && went.warm(),
              sum.rested && went.rested());
    }
    return sum;
  }
}

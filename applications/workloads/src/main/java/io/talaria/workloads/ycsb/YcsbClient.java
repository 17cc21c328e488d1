// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.WarmUp;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import site.ycsb.Workload;
import site.ycsb.measurements.Measurements;
import site.ycsb.measurements.exporter.MeasurementsExporter;
import site.ycsb.measurements.exporter.TextMeasurementsExporter;
import site.ycsb.workloads.CoreWorkload;

/**
 * One phase in a client JVM. YCSB's measurements are one for the process, so a process does no more
 * than one phase.
 */
public final class YcsbClient {
  private final YcsbJob job;
  private final Properties properties;
  private final Failures failures = new Failures();

  private YcsbClient(YcsbJob job) {
    this.job = job;
    this.properties = job.toProperties();
  }

  /**
   * Returns what a client JVM does.
   *
   * @param opener opens its connections
   */
  public static Peer.ClientBody on(Stores.Opener opener) {
    return (link, task) -> new YcsbClient(task.job(YcsbJob.class)).run(opener, link);
  }

  private PhaseResult run(Stores.Opener opener, ParentLink link) throws Exception {
    Measurements.setProperties(properties);
    Workload workload = new CoreWorkload();
    workload.init(properties);
    failures.onLoss(workload::requestStop);
    try (Stores stores = opener.open(job, failures)) {
      Settling.await(stores.connections(), stores::ping);
      boolean rested = job.phase() == Phase.LOAD || warmUp(workload, stores);
      List<TimedDb> bindings =
          IntStream.range(0, job.threads())
              .mapToObj(thread -> new TimedDb(stores.forThread(thread)))
              .toList();
      long operations = job.operations();
      WorkerGroup workerGroup =
          new WorkerGroup(bindings, job.phase() == Phase.RUN, workload, properties, operations);
      long elapsedNs = workerGroup.run(done -> link.report(Orders.PROGRESS, done));
      TransportProbe.Transports transports = TransportProbe.look();
      export(elapsedNs, operations);
      return result(bindings, elapsedNs, stores.connections(), transports, rested);
    }
  }

  /** Returns whether compilers rest. */
  private boolean warmUp(Workload workload, Stores stores) throws Exception {
    WarmUp until = job.warmUp().begin(stores.connections());
    new WarmWorkerGroup(workload, properties)
        .run(
            IntStream.range(0, job.threads()).mapToObj(stores::forThread).toList(),
            until,
            failures);
    if (!failures.first().isEmpty()) {
      throw new HarnessException("the warm-up failed: " + failures.first());
    }
    return until.rested();
  }

  private PhaseResult result(
      List<TimedDb> bindings,
      long elapsedNs,
      int connections,
      TransportProbe.Transports transports,
      boolean rested) {
    Map<String, Histogram> all = new TreeMap<>();
    bindings.forEach(binding -> binding.addTo(all));
    Map<String, String> encoded = new TreeMap<>();
    all.forEach((operation, histogram) -> encoded.put(operation, Latencies.encode(histogram)));
    return new PhaseResult(
        bindings.stream().mapToLong(TimedDb::done).sum(),
        bindings.stream().mapToLong(TimedDb::failed).sum(),
        failures.first(),
        elapsedNs,
        encoded,
        connections,
        transports,
        rested);
  }

  private void export(long elapsedNs, long operations) throws HarnessException {
    if (job.export().isEmpty()) {
      return;
    }
    try (OutputStream out = Files.newOutputStream(Path.of(job.export()));
        MeasurementsExporter exporter = new TextMeasurementsExporter(out)) {
      exporter.write("OVERALL", "RunTime(ms)", elapsedNs / 1e6);
      exporter.write("OVERALL", "Throughput(ops/sec)", operations * 1e9 / elapsedNs);
      Measurements.getMeasurements().exportMeasurements(exporter);
    } catch (IOException e) {
      throw new HarnessException("cannot write " + job.export() + ": " + e, e);
    }
  }
}

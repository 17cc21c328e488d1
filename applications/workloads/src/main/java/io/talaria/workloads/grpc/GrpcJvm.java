// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.grpc.ManagedChannel;
import io.talaria.bench.compare.Found;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Service;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.compare.Task;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.WarmUp;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** The program of both sides. */
public final class GrpcJvm {
  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private GrpcJvm() {}

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    Peer.serve(GrpcJvm::open, GrpcJvm::run);
  }

  private static Service open(Task task) throws Exception {
    return new ByteServer(task, task.job(GrpcTrial.Job.class).trial().eventLoops());
  }

  private static Object run(ParentLink link, Task task) throws Exception {
    GrpcTrial.Job job = task.job(GrpcTrial.Job.class);
    GrpcTrial trial = job.trial();
    try (ByteChannels channels =
        new ByteChannels(task.where(), trial.connections(), trial.eventLoops())) {
      List<Caller> callers = channels.all().stream().map(c -> caller(c, trial)).toList();
      Settling.await(callers.size(), () -> run(callers, 0, Latencies.histogram()));
      return measure(link, callers, job.timing());
    } catch (ExecutionException e) {
      throw Peer.lost(task.where(), "while measuring", ByteChannels.reason(e));
    }
  }

  private static Caller caller(ManagedChannel channel, GrpcTrial trial) {
    boolean streaming = trial.call() == GrpcTrial.Call.STREAMING;
    if (trial.client() == GrpcTrial.Client.BLOCKING) {
      return new BlockingCaller(channel, trial.sizeBytes(), streaming);
    }
    return streaming
        ? new AsyncStreamCaller(channel, trial.sizeBytes(), trial.inFlight())
        : new AsyncUnaryCaller(channel, trial.sizeBytes(), trial.inFlight());
  }

  private static Found measure(ParentLink link, List<Caller> callers, Timing timing)
      throws ExecutionException, InterruptedException {
    WarmUp warmUp = timing.warmUp(callers.size());
    Histogram histogram = Latencies.histogram();
    do {
      run(callers, Math.min(SLICE_NS, timing.measureNs()), histogram);
    } while (!warmUp.done(histogram.getTotalCount()));
    link.report(Orders.PROGRESS, Orders.MEASURING);
    histogram.reset();
    long elapsedNs = run(callers, timing.measureNs(), histogram);
    return Found.timed(warmUp, histogram, elapsedNs);
  }

  private static long run(List<Caller> callers, long lengthNs, Histogram into)
      throws ExecutionException, InterruptedException {
    long start = System.nanoTime();
    List<CompletableFuture<Long>> runs =
        callers.stream().map(caller -> caller.run(start + lengthNs)).toList();
    long longest = 0;
    for (CompletableFuture<Long> run : runs) {
      longest = Math.max(longest, run.get() - start);
    }
    callers.forEach(caller -> into.add(caller.takeHistogram()));
    return longest;
  }
}

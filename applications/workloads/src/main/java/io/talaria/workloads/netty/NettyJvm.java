// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.netty;

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
import io.talaria.bench.netty.NettyClient;
import io.talaria.bench.netty.NettyServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** The program of both sides. */
public final class NettyJvm {
  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long FIRST_BATCH = 256;

  private final ParentLink link;
  private final NettyClient client;
  private final NettyTrial trial;
  private final Timing timing;

  private NettyJvm(ParentLink link, NettyClient client, NettyTrial.Job job) {
    this.link = link;
    this.client = client;
    this.trial = job.trial();
    this.timing = job.timing();
  }

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    Peer.serve(NettyJvm::open, NettyJvm::run);
  }

  private static Service open(Task task) throws Exception {
    int eventLoops = task.job(NettyTrial.Job.class).trial().eventLoops();
    try {
      NettyServer server = new NettyServer(Peer.bindAddress(task.where()), eventLoops);
      return Service.of(server.port(), server::close);
    } catch (IOException e) {
      throw Peer.cannotListen(task.where(), e);
    }
  }

  private static Object run(ParentLink link, Task task) throws Exception {
    NettyTrial.Job job = task.job(NettyTrial.Job.class);
    InetSocketAddress server = new InetSocketAddress(task.where().host(), task.where().port());
    try (NettyClient client = new NettyClient(server, job.trial().eventLoops())) {
      NettyJvm jvm = new NettyJvm(link, client, job);
      try {
        jvm.connect();
      } catch (IOException e) {
        throw Peer.cannotConnect(task.where(), e);
      }
      Settling.await(job.trial().connections(), jvm::exchange);
      return job.trial().pattern() == NettyPattern.THROUGHPUT ? jvm.flood() : jvm.ping();
    } catch (ExecutionException e) {
      throw Peer.lost(task.where(), "while measuring", e.getCause());
    }
  }

  private void connect() throws IOException, InterruptedException {
    if (trial.pattern() == NettyPattern.THROUGHPUT) {
      client.connectForFlood(trial.sizeBytes(), trial.connections(), trial.flushEvery());
    } else {
      client.connectForEcho(trial.sizeBytes(), trial.connections(), trial.inFlight());
    }
  }

  private void exchange() throws InterruptedException, ExecutionException {
    if (trial.pattern() == NettyPattern.THROUGHPUT) {
      client.flood(1);
    } else {
      client.ping(Latencies.histogram(), 0);
    }
  }

  private Found ping() throws InterruptedException, ExecutionException {
    Histogram histogram = Latencies.histogram();
    WarmUp warmUp = timing.warmUp(trial.connections());
    do {
      client.ping(histogram, Math.min(SLICE_NS, timing.measureNs()));
    } while (!warmUp.done(histogram.getTotalCount()));
    link.report(Orders.PROGRESS, Orders.MEASURING);
    histogram.reset();
    long elapsedNs = client.ping(histogram, timing.measureNs());
    return Found.timed(warmUp, histogram, elapsedNs);
  }

  private Found flood() throws InterruptedException, ExecutionException {
    long batch = FIRST_BATCH;
    long batchNs = Math.min(SLICE_NS, timing.measureNs());
    WarmUp warmUp = timing.warmUp(trial.connections());
    long done = 0;
    do {
      long took = client.flood(batch);
      done += batch;
      batch = Math.clamp(batch * batchNs / Math.max(took, 1), FIRST_BATCH, batch * 4);
    } while (!warmUp.done(done));
    link.report(Orders.PROGRESS, Orders.MEASURING);
    long elapsedNs = 0;
    long messages = 0;
    while (elapsedNs < timing.measureNs()) {
      elapsedNs += client.flood(batch);
      messages += batch * trial.connections();
    }
    return Found.poured(warmUp, messages, messages * trial.sizeBytes(), elapsedNs);
  }
}

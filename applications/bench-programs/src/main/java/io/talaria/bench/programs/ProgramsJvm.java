// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.programs;

import io.talaria.bench.compare.Found;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Service;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.compare.Task;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.WarmUp;
import io.talaria.cli.harness.HarnessException;
import io.talaria.programs.ThirdParty;
import io.talaria.workloads.run.QuietLog;
import io.talaria.workloads.run.ScratchFolder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** The program of both sides. */
public final class ProgramsJvm {
  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private ProgramsJvm() {}

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    QuietLog.warningsOnly();
    if (!ChildJvm.nettyEpoll()) {
      System.setProperty("io.netty.transport.noNative", "true");
    }
    Peer.serve(ProgramsJvm::open, ProgramsJvm::run);
  }

  private static Service open(Task task) throws Exception {
    ThirdParty program = task.job(ProgramTrial.Job.class).trial().program().open();
    ScratchFolder folder = ScratchFolder.make();
    return Service.of(program.serve(folder.path()), folder::close);
  }

  private static Object run(ParentLink link, Task task) throws Exception {
    ProgramTrial.Job job = task.job(ProgramTrial.Job.class);
    ProgramTrial trial = job.trial();
    ThirdParty program = trial.program().open();
    if (trial.sizeBytes() > program.maxBytes()) {
      throw new HarnessException(
          trial.program() + " takes messages of " + program.maxBytes() + " bytes at most here");
    }
    ExecutorService threads = Executors.newFixedThreadPool(trial.connections());
    try {
      List<Client> clients = new ArrayList<>();
      for (int i = 0; i < trial.connections(); i++) {
        clients.add(new Client(program.connect(task.where().port()), trial.sizeBytes(), i));
      }
      Settling.await(trial.connections(), () -> run(threads, clients, 0, Latencies.histogram()));
      return measure(link, threads, clients, job.timing());
    } catch (ExecutionException e) {
      throw e.getCause() instanceof HarnessException found
          ? found
          : Peer.lost(task.where(), "while measuring", e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private static Found measure(
      ParentLink link, ExecutorService threads, List<Client> clients, Timing timing)
      throws ExecutionException, InterruptedException {
    WarmUp warmUp = timing.warmUp(clients.size());
    Histogram histogram = Latencies.histogram();
    do {
      run(threads, clients, Math.min(SLICE_NS, timing.measureNs()), histogram);
    } while (!warmUp.done(histogram.getTotalCount()));
    link.report(Orders.PROGRESS, Orders.MEASURING);
    histogram.reset();
    long elapsedNs = run(threads, clients, timing.measureNs(), histogram);
    return Found.timed(warmUp, histogram, elapsedNs);
  }

  /** Lets all clients exchange messages for some time, once each at least; returns how long. */
  private static long run(
      ExecutorService threads, List<Client> clients, long lengthNs, Histogram into)
      throws ExecutionException, InterruptedException {
    long start = System.nanoTime();
    List<Callable<Histogram>> tasks = new ArrayList<>();
    clients.forEach(client -> tasks.add(() -> client.run(start + lengthNs)));
    for (Future<Histogram> one : threads.invokeAll(tasks)) {
      into.add(one.get());
    }
    return System.nanoTime() - start;
  }

  /** Used by one thread at a time. */
  private static final class Client {
    private final ThirdParty.Guest guest;
    private final byte[] message;

    Client(ThirdParty.Guest guest, int sizeBytes, int seed) {
      this.guest = guest;
      message = new byte[sizeBytes];
      new SplittableRandom(seed).nextBytes(message);
    }

    Histogram run(long endNs) throws Exception {
      Histogram histogram = Latencies.histogram();
      long now = System.nanoTime();
      do {
        byte[] answer = guest.exchange(message);
        long before = now;
        now = System.nanoTime();
        Latencies.record(histogram, now - before);
        if (answer == null) {
          throw new HarnessException("no response came within " + ThirdParty.PATIENCE_S + " s");
        }
        if (!Arrays.equals(answer, message)) {
          throw new HarnessException("what was sent came back changed");
        }
      } while (now < endNs);
      return histogram;
    }
  }
}

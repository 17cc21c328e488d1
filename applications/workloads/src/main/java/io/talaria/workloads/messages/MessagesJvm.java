// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Found;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.compare.Task;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.WarmUp;
import io.talaria.cli.harness.HarnessException;
import io.talaria.workloads.messages.SenderThreads.Work;
import io.talaria.workloads.messages.objects.Receipt;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.objects.Tally;
import io.talaria.workloads.messages.wire.MessagesJob;
import io.talaria.workloads.messages.wire.MessagesPattern;
import io.talaria.workloads.messages.wire.ObjectSender;
import io.talaria.workloads.messages.wire.Wire;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** The program of both sides. */
public final class MessagesJvm {
  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Longer than anyone spins. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);

  /** Both ends fall asleep in this one as well, and the JIT compilers see more requests. */
  private static final long PAUSE_OF_WARM_UP_NS = TimeUnit.MICROSECONDS.toNanos(100);

  private static final int MIN_BATCH = 4;
  private static final int FIRST_BATCH = 1000;
  private static final int FIRST_BATCH_BYTES = 16 << 20;

  private final MessagesJob job;
  private final Wire wire;
  private final List<Sender> senders = new ArrayList<>();

  private MessagesJvm(MessagesJob job, Wire wire) {
    this.job = job;
    this.wire = wire;
    IdleStrategy full =
        job.threads() == 1 ? BusySpinIdleStrategy.INSTANCE : YieldingIdleStrategy.INSTANCE;
    for (int worker = 0; worker < job.threads(); worker++) {
      senders.add(new Sender(worker, wire.sender(full)));
    }
  }

  /** One thread's share, of which it knows what must come. */
  private final class Sender {
    private final int worker;
    private final ObjectSender out;
    private long sent;
    private long sum;

    Sender(int worker, ObjectSender out) {
      this.worker = worker;
      this.out = out;
    }

    void send(long count) throws Exception {
      for (long i = 0; i < count; i++) {
        long number = Receipt.number(worker, sent++);
        out.send(Sizes.object(job.sizeBytes(), number));
        sum += Sizes.sum(job.sizeBytes(), number);
      }
      out.flush();
    }
  }

  /** One thread's requests, and how long each of them took. */
  private final class Requester {
    private final int worker;
    private final Histogram histogram = Latencies.histogram();
    private long sent;

    Requester(int worker) {
      this.worker = worker;
    }

    void request(long limitNs, long pauseNs) throws Exception {
      long begin = System.nanoTime();
      long now = begin;
      while (now - begin < limitNs) {
        Object request = Sizes.object(job.sizeBytes(), Receipt.number(worker, sent++));
        if (job.pattern() == MessagesPattern.ASLEEP) {
          LockSupport.parkNanos(pauseNs);
        }
        long start = System.nanoTime();
        Object response = wire.request(request);
        now = System.nanoTime();
        Latencies.record(histogram, now - start);
        if (!request.equals(response)) {
          throw new HarnessException(
              job.implementation() + " responded " + response + " to " + request);
        }
      }
    }
  }

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    Peer.serve(
        task -> {
          MessagesJob job = task.job(MessagesJob.class);
          return job.implementation().serve(job);
        },
        MessagesJvm::run);
  }

  private static Object run(ParentLink link, Task task) throws Exception {
    MessagesJob job = task.job(MessagesJob.class);
    try (Wire wire = job.implementation().connect(job, task.where())) {
      if (job.implementation().onTalaria()) {
        Settling.await(1, () -> exchange(wire));
      }
      MessagesJvm jvm = new MessagesJvm(job, wire);
      return job.pattern().isRequest() ? jvm.request(link) : jvm.pour(link);
    }
  }

  /** A message there and one back. */
  private static void exchange(Wire wire) throws Exception {
    wire.tally();
  }

  /** Each thread sends so many, until all were received; how long that took. */
  private long pour(long count) throws Exception {
    long begin = System.nanoTime();
    together(senders.stream().map(each -> (Work) () -> each.send(count)).toList());
    Tally got = wire.tally();
    long took = System.nanoTime() - begin;
    long sum = senders.stream().mapToLong(each -> each.sum).sum();
    Tally expected = new Tally(sent(), sum, 0);
    if (!got.equals(expected)) {
      throw new HarnessException(job.implementation() + " received " + got + ", not " + expected);
    }
    return took;
  }

  private long sent() {
    return senders.stream().mapToLong(each -> each.sent).sum();
  }

  private Found pour(ParentLink link) throws Exception {
    long first = Math.clamp(FIRST_BATCH_BYTES / job.sizeBytes(), MIN_BATCH, FIRST_BATCH);
    long batch = first;
    long batchNs = Math.min(SLICE_NS, job.timing().measureNs());
    WarmUp warmUp = job.timing().warmUp(1);
    do {
      long took = pour(batch);
      batch = Math.clamp(batch * batchNs / Math.max(took, 1), first, batch * 4);
    } while (!warmUp.done(sent()));
    link.report(Orders.PROGRESS, Orders.MEASURING);
    long elapsedNs = 0;
    long messages = 0;
    while (elapsedNs < job.timing().measureNs()) {
      elapsedNs += pour(batch);
      messages += batch * senders.size();
    }
    return Found.poured(warmUp, messages, messages * job.sizeBytes(), elapsedNs);
  }

  private Found request(ParentLink link) throws Exception {
    List<Requester> requesters =
        IntStream.range(0, job.threads()).mapToObj(Requester::new).toList();
    WarmUp warmUp = job.timing().warmUp(1);
    do {
      request(requesters, Math.min(SLICE_NS, job.timing().measureNs()), PAUSE_OF_WARM_UP_NS);
    } while (!warmUp.done(requesters.stream().mapToLong(each -> each.sent).sum()));
    link.report(Orders.PROGRESS, Orders.MEASURING);
    requesters.forEach(each -> each.histogram.reset());
    long elapsedNs = request(requesters, job.timing().measureNs(), PAUSE_NS);
    Histogram all = Latencies.histogram();
    requesters.forEach(each -> all.add(each.histogram));
    return Found.timed(warmUp, all, elapsedNs);
  }

  /** Each thread makes requests for so long; how long that took. */
  private static long request(List<Requester> requesters, long limitNs, long pauseNs)
      throws Exception {
    long begin = System.nanoTime();
    together(requesters.stream().map(each -> (Work) () -> each.request(limitNs, pauseNs)).toList());
    return System.nanoTime() - begin;
  }

  /** Each on a thread of its own, but the only one on this thread. */
  private static void together(List<Work> all) throws Exception {
    if (all.size() == 1) {
      all.getFirst().run();
    } else {
      SenderThreads.run(all);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.harness.WarmUp;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import site.ycsb.DB;
import site.ycsb.Workload;

/** Threads that do what a workload says and measure nothing, until all is warm. */
final class WarmWorkerGroup {
  private static final long LOOK_MS = 20;

  private final Workload workload;
  private final Properties properties;
  private final LongAdder done = new LongAdder();
  private volatile boolean warm;

  WarmWorkerGroup(Workload workload, Properties properties) {
    this.workload = workload;
    this.properties = properties;
  }

  void run(List<? extends DB> bindings, WarmUp until, Failures failures)
      throws InterruptedException, ExecutionException {
    try (ExecutorService threads = Executors.newFixedThreadPool(bindings.size())) {
      List<? extends Future<?>> members =
          IntStream.range(0, bindings.size())
              .mapToObj(
                  i -> threads.submit(() -> work(bindings.get(i), i, bindings.size(), failures)))
              .toList();
      while (!until.done(done.sum()) && failures.first().isEmpty()) {
        TimeUnit.MILLISECONDS.sleep(LOOK_MS);
      }
      warm = true;
      for (Future<?> member : members) {
        member.get();
      }
    }
  }

  private Void work(DB binding, int thread, int threads, Failures failures) throws Exception {
    Object state = workload.initThread(properties, thread, threads);
    while (!warm && failures.first().isEmpty()) {
      workload.doTransaction(binding, state);
      done.increment();
    }
    return null;
  }
}

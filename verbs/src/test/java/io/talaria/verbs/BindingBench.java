// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;

/**
 * What a call through the binding costs: post and poll on a device that does nothing, beside the
 * same loop in C. {@code ./talaria bench verbs --binding}.
 */
public final class BindingBench {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int ROUNDS = 3;
  private static final long COUNT = 5_000_000;
  private static final long WARM_UP = 2_000_000;
  private static final double MOST_NS_MORE = 25;
  private static final int UNAVAILABLE = 69; // EX_UNAVAILABLE of sysexits.h
  private static final int USAGE = 2;

  private BindingBench() {}

  /** Measures, prints, and ends with 0; with 3 if the target is missed. */
  public static void main(String[] args) {
    if (args.length != 1 || !args[0].equals("--binding")) {
      boolean help = args.length == 1 && (args[0].equals("-h") || args[0].equals("--help"));
      (help ? System.out : System.err)
          .println(
              "Usage: ./talaria bench verbs --binding\n\n"
                  + "Post and poll through the binding, on a device that does nothing, beside the"
                  + " same loop\nin C. Needs gcc, libibverbs-dev and librdmacm-dev, and no RDMA"
                  + " device.\n\nExit status: 0 done, 3 the target is missed, 69 gcc or headers are"
                  + " missing, 2 wrong usage.");
      System.exit(help ? 0 : USAGE);
    }
    Loopback.prepare()
        .ifPresent(
            obstacle -> {
              System.err.println(obstacle);
              System.exit(UNAVAILABLE);
            });
    System.exit(measure() ? 0 : 3);
  }

  private static boolean measure() {
    double[] c = new double[ROUNDS];
    double[] java = new double[ROUNDS];
    double[] more = new double[ROUNDS];
    long bytes = 0;
    try (Context context = Ground.open()) {
      Loopback.noop(context);
      try (ProtectionDomain domain = context.protectionDomain();
          CompletionQueue queue = context.completionQueue(64);
          QueuePair queuePair = QueuePair.rc(domain).send(queue, 16).receive(queue, 16).open();
          MemoryRegion region = domain.allocate(64)) {
        Loopback.noop(queuePair);
        SendRequests requests = SendRequests.allocate(domain, 1, 1);
        requests.send(0).local(region, 0, 8).signaled();
        Completions done = Completions.allocate(1);
        if (loop(queuePair, queue, requests, done, WARM_UP) + Loopback.bench(queuePair, WARM_UP)
            <= 0) {
          throw new AssertionError("the clock stands still");
        }
        System.out.println(
            "post + poll, a device that does nothing, nanoseconds of processor time");
        System.out.println("round       C    Java    more   ratio");
        for (int round = 0; round < ROUNDS; round++) {
          c[round] = (double) Loopback.bench(queuePair, COUNT) / COUNT;
          long before = THREADS.getCurrentThreadAllocatedBytes();
          java[round] = (double) loop(queuePair, queue, requests, done, COUNT) / COUNT;
          bytes += THREADS.getCurrentThreadAllocatedBytes() - before;
          more[round] = java[round] - c[round];
          System.out.printf(
              Locale.ROOT,
              "%5d %7.1f %7.1f %7.1f %7.2f%n",
              round + 1,
              c[round],
              java[round],
              more[round],
              java[round] / c[round]);
        }
      }
    }
    Arrays.sort(more);
    double perOperation = (double) bytes / (ROUNDS * COUNT);
    System.out.printf(
        Locale.ROOT,
        "median %.1f ns more (%.1f to %.1f); target: at most %.0f. %.3f bytes allocated each%n",
        more[ROUNDS / 2],
        more[0],
        more[ROUNDS - 1],
        MOST_NS_MORE,
        perOperation);
    return more[ROUNDS / 2] <= MOST_NS_MORE && perOperation < 0.01;
  }

  private static long loop(
      QueuePair queuePair,
      CompletionQueue queue,
      SendRequests requests,
      Completions done,
      long count) {
    // Processor time, as in C: it tells less of what else the machine does.
    long start = THREADS.getCurrentThreadCpuTime();
    for (long i = 0; i < count; i++) {
      requests.id(i);
      if (queuePair.post(requests, 0, 1) != 0 || queue.poll(done) != 1 || done.id(0) != i) {
        throw new AssertionError("request " + i);
      }
    }
    return THREADS.getCurrentThreadCpuTime() - start;
  }
}

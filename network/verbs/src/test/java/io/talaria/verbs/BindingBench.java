// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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
  private static final double MAX_NS_MORE = 25;
  private static final double MIN_BYTES = 0.01;

  private static final int UNAVAILABLE = 69; // EX_UNAVAILABLE of sysexits.h
  private static final int MISSED = 3;

  private BindingBench() {}

  /**
   * Measures, prints, and ends with 0; with 3 if the target is missed.
   *
   * @param args where the figures go as JSON, if they are wanted: a file, or - for the standard
   *     output, and what is for people goes to the standard error then
   */
  public static void main(String[] args) throws IOException {
    String json = args.length == 0 ? "" : args[0];
    PrintStream people = json.equals("-") ? System.err : System.out;
    Loopback.prepare()
        .ifPresent(
            unavailableReason -> {
              System.err.println(unavailableReason);
              System.exit(UNAVAILABLE);
            });
    System.exit(measure(people, json) ? 0 : MISSED);
  }

  private static boolean measure(PrintStream people, String json) throws IOException {
    double[] c = new double[ROUNDS];
    double[] java = new double[ROUNDS];
    double[] more = new double[ROUNDS];
    long bytes = 0;
    try (Context context = Variant.open()) {
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
        people.println("post + poll, a device that does nothing, nanoseconds of processor time");
        people.println("round       C    Java    more   ratio");
        for (int round = 0; round < ROUNDS; round++) {
          c[round] = (double) Loopback.bench(queuePair, COUNT) / COUNT;
          long before = THREADS.getCurrentThreadAllocatedBytes();
          java[round] = (double) loop(queuePair, queue, requests, done, COUNT) / COUNT;
          bytes += THREADS.getCurrentThreadAllocatedBytes() - before;
          more[round] = java[round] - c[round];
          people.printf(
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
    double[] sorted = more.clone();
    Arrays.sort(sorted);
    double median = sorted[ROUNDS / 2];
    double perOperation = (double) bytes / (ROUNDS * COUNT);
    people.printf(
        Locale.ROOT,
        "median %.1f ns more (%.1f to %.1f); target: at most %.0f. %.3f bytes allocated each%n",
        median,
        sorted[0],
        sorted[ROUNDS - 1],
        MAX_NS_MORE,
        perOperation);
    boolean fast = median <= MAX_NS_MORE;
    boolean lean = perOperation < MIN_BYTES;
    if (!json.isEmpty()) {
      // As the engine of benchmarks writes measures; there is no library for it here.
      String figures =
          String.format(
              Locale.ROOT,
              """
              {"format": "talaria-bench-verbs-2",
               "environment": {"time": "%s", "jdk": "%s", "cores": %d},
               "targetsMissed": %d,
               "measures": [
                {"id": "post-poll", "label": "post and poll, a device that does nothing", "unit": "ns",
                 "rounds": {"c": %s, "java": %s}},
                {"id": "post-poll/more", "label": "what Java takes more than C", "unit": "ns",
                 "rounds": {"java": %s},
                 "target": {"wanted": "at most %.0f", "reached": %.3f, "met": %b}},
                {"id": "post-poll/allocated", "label": "bytes allocated each", "unit": "B",
                 "rounds": {"java": [%.6f]},
                 "target": {"wanted": "under %.2f", "reached": %.6f, "met": %b}}]}
              """,
              Instant.now().truncatedTo(ChronoUnit.SECONDS),
              System.getProperty("java.runtime.version"),
              Runtime.getRuntime().availableProcessors(),
              (fast ? 0 : 1) + (lean ? 0 : 1),
              Arrays.toString(c),
              Arrays.toString(java),
              Arrays.toString(more),
              MAX_NS_MORE,
              median,
              fast,
              perOperation,
              MIN_BYTES,
              perOperation,
              lean);
      if (json.equals("-")) {
        System.out.print(figures);
      } else {
        Files.writeString(Path.of(json), figures);
      }
    }
    return fast && lean;
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

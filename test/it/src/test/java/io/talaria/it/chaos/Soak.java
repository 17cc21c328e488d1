// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Announced;
import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Proc;
import io.talaria.it.programs.SoakGuest;
import io.talaria.it.programs.SoakHost;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Two processes connect and close, again and again: what they take must level off, and be given
 * back. Their heaps are all taken at the start, so that what grows is seen, in the heap or beside
 * it. Confined to the test's thread.
 */
public final class Soak {
  private static final Duration HANG = Duration.ofSeconds(90);

  /** Each takes 40 ms: so many without news are a hang. */
  private static final int HANG_POLLS = 2000;

  private static final int THREADS = 8;
  private static final int SAMPLES = 20;
  private static final long TOLD_EVERY = 500;
  private static final long MEGABYTE = 1 << 20;

  /** Odd pages: what a process may grow by in the second half. */
  private static final long RESIDENT_GROWTH = 16 * MEGABYTE;

  /** The same in a short run, in which code is still being compiled. */
  private static final long YOUNG_GROWTH = 48 * MEGABYTE;

  private static final long YOUNG = 200_000;

  private static final long HEAP_GROWTH = 4 * MEGABYTE;
  private static final int SPARE_DESCRIPTORS = 4;

  /** Segments that the pool keeps between two processes, and the memory of the peer. */
  private static final int POOLED_MAPPINGS = 64 + 1;

  private final Lab lab;
  private final long connects;
  private final List<Sample> samples = new ArrayList<>();
  private Child host;
  private Child guest;
  private long startNs;

  private record Usage(long residentBytes, long heapBytes, int descriptors, int mappings) {}

  private record Sample(long connects, long seconds, Usage guest, Usage host) {}

  /**
   * Makes a soak.
   *
   * @param lab where its processes live
   * @param connects how many connections in all
   */
  public Soak(Lab lab, long connects) {
    this.lab = lab;
    this.connects = connects;
  }

  /**
   * How many connects the environment asks for.
   *
   * @return 20,000 unless it says otherwise
   */
  public static long connectsFromEnvironment() {
    return Long.parseLong(System.getenv().getOrDefault("TALARIA_SOAK_CONNECTS", "20000"));
  }

  /**
   * Runs it, and judges.
   *
   * @throws Exception if anything is not as it should be
   */
  public void run() throws Exception {
    host = program(SoakHost.class).arg("listeners", THREADS).start();
    String ports = host.await("listening").text("ports");
    for (String port : ports.split(",")) {
      Announced.await(lab.talariaDir(), Integer.parseInt(port));
    }
    int hostDescriptors = Proc.descriptorsButDoorbells(host);
    System.out.println("soak: " + connects + " connects and closes");
    System.out.printf(
        "%10s %6s %15s %15s %13s %13s %11s %9s%n",
        "connects",
        "s",
        "RSS client MB",
        "RSS server MB",
        "heap client",
        "heap server",
        "descriptors",
        "mappings");
    startNs = System.nanoTime();
    guest =
        program(SoakGuest.class)
            .arg("ports", ports)
            .arg("connects", connects)
            .arg("every", TOLD_EVERY)
            .start();
    long fast = soak();
    judge(fast, hostDescriptors);
  }

  private ChildSpec program(Class<?> type) {
    return lab.child(Flavour.TALARIA, type)
        .option("-Xms64m")
        .option("-Xmx64m")
        .option("-XX:+AlwaysPreTouch");
  }

  /** Samples until all is done; returns how many connections were accelerated. */
  private long soak() throws Exception {
    long next = connects / SAMPLES;
    for (int polls = 0; ; polls++) {
      Event progress = guest.poll("progress");
      if (progress != null) {
        polls = 0;
        if (progress.number("connects") >= next) {
          next += connects / SAMPLES;
          sample(progress.number("connects"));
        }
        continue;
      }
      Event done = guest.poll("done");
      if (done != null) {
        sample(connects);
        return done.number("fast");
      }
      // Not by the clock: all may have stood still together.
      if (polls > HANG_POLLS || !guest.alive() || !host.alive()) {
        throw new AssertionError("no progress: " + guest + ", " + host);
      }
    }
  }

  private void sample(long done) throws Exception {
    Sample sample =
        new Sample(done, (System.nanoTime() - startNs) / 1_000_000_000L, usage(guest), usage(host));
    samples.add(sample);
    System.out.printf(
        "%,10d %6d %15.1f %15.1f %13.2f %13.2f %6d/%-4d %5d/%-3d%n",
        sample.connects,
        sample.seconds,
        mb(sample.guest.residentBytes),
        mb(sample.host.residentBytes),
        mb(sample.guest.heapBytes),
        mb(sample.host.heapBytes),
        sample.guest.descriptors,
        sample.host.descriptors,
        sample.guest.mappings,
        sample.host.mappings);
  }

  private static double mb(long bytes) {
    return (double) bytes / MEGABYTE;
  }

  private Usage usage(Child child) throws IOException, InterruptedException {
    child.send("heap");
    long heapBytes = child.await("heap", HANG).number("used");
    return new Usage(
        Proc.residentBytes(child),
        heapBytes,
        Proc.descriptors(child),
        Proc.mappings(child, lab.shmDir()));
  }

  private void judge(long fast, int hostDescriptors) throws Exception {
    long clientGrowth = growth(s -> s.guest.residentBytes);
    long serverGrowth = growth(s -> s.host.residentBytes);
    System.out.printf(
        "soak: %,d of %,d connections accelerated; resident memory grew by %.1f MB (client) and"
            + " %.1f MB (server) from the second quarter to the last%n",
        fast, connects, mb(clientGrowth), mb(serverGrowth));
    long allowed = connects < YOUNG ? YOUNG_GROWTH : RESIDENT_GROWTH;
    assertThat(fast).as("accelerated connections").isGreaterThan(connects / 2);
    assertThat(clientGrowth).as("resident memory, client").isLessThan(allowed);
    assertThat(serverGrowth).as("resident memory, server").isLessThan(allowed);
    assertThat(growth(s -> s.guest.heapBytes)).as("heap, client").isLessThan(HEAP_GROWTH);
    assertThat(growth(s -> s.host.heapBytes)).as("heap, server").isLessThan(HEAP_GROWTH);
    atMost("mappings of the client", POOLED_MAPPINGS, () -> mappings(guest));
    atMost("mappings of the server", POOLED_MAPPINGS, () -> mappings(host));
    guest.stop();
    atMost("mappings of the server, alone", 0, () -> mappings(host));
    atMost(
        "descriptors of the server, alone, but doorbells",
        hostDescriptors + SPARE_DESCRIPTORS,
        () -> Proc.descriptorsButDoorbells(host));
    // They are kept for the next selector; every other listener has one at a time.
    atMost("doorbells of the server, alone", THREADS / 2, () -> Proc.doorbells(host));
    host.stop();
    System.out.println("soak: it levels off, and everything is given back");
  }

  private int mappings(Child child) throws IOException, InterruptedException {
    Proc.collectGarbage(child);
    return Proc.mappings(child, lab.shmDir());
  }

  /** From the second quarter of the run to the last. */
  private long growth(ToLongFunction<Sample> what) {
    int size = samples.size();
    return (long)
        (mean(samples.subList(size * 3 / 4, size), what)
            - mean(samples.subList(size / 4, size / 2), what));
  }

  private static double mean(List<Sample> some, ToLongFunction<Sample> what) {
    return some.stream().mapToLong(what).average().orElse(0);
  }

  private interface Count {
    int get() throws Exception;
  }

  private static void atMost(String what, int limit, Count count) throws Exception {
    long deadlineNs = System.nanoTime() + Duration.ofSeconds(15).toNanos();
    while (count.get() > limit && System.nanoTime() < deadlineNs) {
      Thread.sleep(100);
    }
    assertThat(count.get()).as(what).isLessThanOrEqualTo(limit);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.doorbell.HeldDescriptors;
import io.talaria.nio.memory.StableMappings;
import io.talaria.nio.shm.ShmTransport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Attacks a victim in this process, case after case, until it has had so many inputs. A case
 * depends on the seed and its number alone, as far as threads allow.
 */
final class Fuzzer {
  private static final int CASES_BETWEEN_CHECKS = 32;
  private static final int WARM_UP_CASES = 200;
  private static final long MORE_HEAP_BYTES = 48 << 20;
  private static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(30);
  private static final long PROGRESS_NS = TimeUnit.SECONDS.toNanos(5);
  private static final int OWN_DESCRIPTORS = 8;

  private final long seed;
  private final Consumer<String> progress;
  private final Map<Kind, Long> inputs = new EnumMap<>(Kind.class);
  private final Map<Kind, Long> cases = new EnumMap<>(Kind.class);
  private long total;
  private long number;
  private long unmet;
  private long soundTrips;
  private long startNs;

  Fuzzer(long seed, Consumer<String> progress) {
    this.seed = seed;
    this.progress = progress;
    for (Kind kind : Kind.values()) {
      inputs.put(kind, 0L);
      cases.put(kind, 0L);
    }
  }

  /**
   * Runs until there have been so many inputs, or one case alone.
   *
   * @param onlyCase the number of that case; negative for all
   * @throws Finding if something has happened that must not
   */
  void run(Path dir, long wanted, long onlyCase, Watch watch) throws Exception {
    startNs = System.nanoTime();
    long mappingsBefore = StableMappings.count();
    long descriptorsBefore = HeldDescriptors.now().count();
    try (Variant variant = new Variant(dir, seed)) {
      CountersCase counters = new CountersCase(dir);
      number = Math.max(0, onlyCase);
      long heapBefore = 0;
      long shownNs = System.nanoTime();
      for (; total < wanted; number++) {
        watch.beat();
        one(variant, counters, watch);
        if (onlyCase >= 0) {
          break;
        }
        if (number % CASES_BETWEEN_CHECKS == 0) {
          variant.check();
        }
        if (number == WARM_UP_CASES) {
          heapBefore = heapBytes();
        }
        if (System.nanoTime() - shownNs > PROGRESS_NS) {
          shownNs = System.nanoTime();
          progress.accept(line());
        }
      }
      variant.check();
      soundTrips = variant.soundTrips();
      if (!variant.accelerated()) {
        throw new Finding("a sound connection is in shared memory no more");
      }
      if (heapBefore != 0 && heapBytes() > heapBefore + MORE_HEAP_BYTES) {
        throw new Finding("the heap has grown from " + heapBefore + " to " + heapBytes());
      }
    }
    watch.beat();
    awaitNothingLeft(mappingsBefore, descriptorsBefore);
  }

  private void one(Variant variant, CountersCase counters, Watch watch) throws IOException {
    Random random = new Random(mix(seed, number));
    Kind kind = Kind.of(random);
    int made =
        switch (kind) {
          case FRAMES_TO_LISTENER -> new FrameCase(variant, random).againstListener();
          case FRAMES_TO_CLIENT -> new FrameCase(variant, random).againstClient();
          case COUNTERS -> counters.run(random);
          default -> {
            int steps = new MemoryCase(variant, random, watch).run(kind);
            unmet += steps == 0 ? 1 : 0;
            yield steps;
          }
        };
    variant.checkLog();
    total += made;
    inputs.merge(kind, (long) made, Long::sum);
    cases.merge(kind, 1L, Long::sum);
  }

  private static long mix(long seed, long number) {
    long mixed = (seed + number) * 0x9e37_79b9_7f4a_7c15L;
    return mixed ^ mixed >>> 29;
  }

  private static long heapBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** What the provider keeps for as long as it lives stays; nothing else. */
  private static void awaitNothingLeft(long mappings, long descriptors) throws Exception {
    long start = System.nanoTime();
    while (ShmTransport.liveMappings() > mappings
        || HeldDescriptors.now().count() > descriptors + OWN_DESCRIPTORS) {
      if (System.nanoTime() - start > SETTLE_NS) {
        throw new Finding(
            (ShmTransport.liveMappings() - mappings)
                + " mappings and "
                + (HeldDescriptors.now().count() - descriptors)
                + " descriptors are left; "
                + HeldDescriptors.now());
      }
      Thread.sleep(10);
    }
  }

  /** The number of the case that is running, or has failed. */
  long number() {
    return number;
  }

  long total() {
    return total;
  }

  /** How far it is, in a line. */
  String line() {
    double seconds = (System.nanoTime() - startNs) / 1e9;
    return String.format(
        "%,d inputs in %.0f s, %,.0f a second; case %,d", total, seconds, total / seconds, number);
  }

  /** What has been done, as a table. */
  String table() {
    StringBuilder text = new StringBuilder();
    text.append(String.format("%-55s %10s %12s%n", "attack", "cases", "inputs"));
    for (Kind kind : Kind.values()) {
      text.append(
          String.format("%-55s %,10d %,12d%n", kind.title, cases.get(kind), inputs.get(kind)));
    }
    text.append(String.format("%-55s %,10d %,12d%n", "all", number, total));
    text.append(
        String.format(
            "%,d connections did not come about; %,d round trips of the sound ones%n",
            unmet, soundTrips));
    return text.toString();
  }
}

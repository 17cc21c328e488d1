// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Tells whether the compilers of some JVMs are at rest, read from outside. A JVM that is pinned to
 * one core compiles beside the very loop that is measured: until its compilers rest, it is they
 * that are measured. Used by one thread.
 *
 * <p>Where the kernel does not tell (no {@code /proc}), compilers count as at rest.
 */
final class Compilers {
  /** How long compilers must have done next to nothing. */
  private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(400);

  /** What a compiler may use of that time and still be at rest: a small method now and then. */
  private static final double RESTING = 0.05;

  /** The beginnings of the names that HotSpot gives its compilers' threads. */
  private static final List<String> NAMES = List.of("C1 Compiler", "C2 Compiler", "JVMCI");

  private final List<Long> pids;
  private Map<Long, Long> used;
  private long since;

  /**
   * Begins to watch.
   *
   * @param pids the JVMs
   */
  Compilers(List<Long> pids) {
    this.pids = List.copyOf(pids);
    used = read();
    since = System.nanoTime();
  }

  /** Begins to watch the JVMs that the parent of this one has started, itself among them. */
  static Compilers ofThePair() {
    return new Compilers(
        ProcessHandle.current().parent().map(Compilers::childrenOf).orElse(List.of()));
  }

  static List<Long> childrenOf(ProcessHandle parent) {
    return parent.children().map(ProcessHandle::pid).toList();
  }

  /** Returns whether all of them have been at rest for a while up to now. */
  boolean atRest() {
    long now = System.nanoTime();
    if (now - since < REST_NS) {
      return false;
    }
    Map<Long, Long> before = used;
    used = read();
    boolean resting = CpuReading.grownNs(before, used) < RESTING * (now - since);
    since = now;
    return resting;
  }

  private Map<Long, Long> read() {
    Map<Long, Long> times = new HashMap<>();
    for (long pid : pids) {
      CpuReading.readThreads(pid, Compilers::isCompiler, times);
    }
    return times;
  }

  private static boolean isCompiler(Path thread) {
    try {
      String name = Files.readString(thread.resolve("comm"));
      return NAMES.stream().anyMatch(name::startsWith);
    } catch (IOException e) {
      return false; // it has ended
    }
  }
}

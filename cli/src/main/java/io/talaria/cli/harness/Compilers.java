// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.IOException;
import java.nio.file.DirectoryStream;
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
  private static final String[] NAMES = {"C1 Compiler", "C2 Compiler", "JVMCI"};

  private final List<Long> pids;
  private Map<Path, Long> used;
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
    Map<Path, Long> before = used;
    long busyNs = 0;
    used = read();
    for (Map.Entry<Path, Long> thread : used.entrySet()) {
      busyNs += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
    }
    boolean resting = busyNs < RESTING * (now - since);
    since = now;
    return resting;
  }

  private Map<Path, Long> read() {
    Map<Path, Long> times = new HashMap<>();
    for (long pid : pids) {
      Path tasks = Path.of("/proc", Long.toString(pid), "task");
      try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
        for (Path thread : threads) {
          readThread(thread, times);
        }
      } catch (IOException e) {
        // The process has ended, or there is no such file system here.
      }
    }
    return times;
  }

  private static void readThread(Path thread, Map<Path, Long> into) {
    try {
      if (isCompiler(Files.readString(thread.resolve("comm")))) {
        into.put(thread, CpuReading.ofThread(thread));
      }
    } catch (IOException | NumberFormatException | StringIndexOutOfBoundsException e) {
      // This thread has ended, or the kernel does not count so finely.
    }
  }

  private static boolean isCompiler(String name) {
    for (String prefix : NAMES) {
      if (name.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }
}

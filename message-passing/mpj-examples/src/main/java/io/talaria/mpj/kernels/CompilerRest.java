// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/**
 * Whether this JVM's compilers have been at rest, as the JVM itself reports: a rank that is bound
 * to a core, or one of many, shares its core with them. One thread.
 */
public final class CompilerRest {
  /** What compilers may use of a time and still be at rest: a small method now and then. */
  private static final double RESTING = 0.05;

  /** Null in a JVM without compilers. */
  private final CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();

  private long sinceNs = System.nanoTime();
  private long sinceMs = spentMs();

  /** Begins to watch. */
  public CompilerRest() {}

  private long spentMs() {
    return compilers != null && compilers.isCompilationTimeMonitoringSupported()
        ? compilers.getTotalCompilationTime()
        : 0;
  }

  /** Returns whether they were at rest since this was last asked, or since this was made. */
  public boolean atRest() {
    long nowNs = System.nanoTime();
    long nowMs = spentMs();
    boolean rest = TimeUnit.MILLISECONDS.toNanos(nowMs - sinceMs) < RESTING * (nowNs - sinceNs);
    sinceNs = nowNs;
    sinceMs = nowMs;
    return rest;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** Finds the job that a program is in. */
public final class Jobs {
  private static final AtomicReference<Job> OF_PROCESS = new AtomicReference<>();

  private Jobs() {}

  /**
   * Tells the job of this process, before the program runs.
   *
   * @param job what its launcher told
   */
  public static void ofProcess(Job job) {
    OF_PROCESS.set(job);
  }

  /**
   * The job of classes of a loader: the loader's own, else the process's, else another launcher's,
   * else one rank alone.
   *
   * @param loader of the program's {@code mpi} classes
   * @param others finds the job of another launcher, or null
   */
  public static Job find(ClassLoader loader, Supplier<Job> others) {
    if (loader instanceof JobSource source) {
      return source.job();
    }
    Job job = OF_PROCESS.get();
    if (job == null) {
      job = others.get();
    }
    return job == null ? new SingleJob() : job;
  }
}

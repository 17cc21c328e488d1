// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Processes that end with this JVM, also one that is just being started when this JVM begins to
 * exit. Any thread.
 */
public final class ProcessesAtExit {
  private static final Object LOCK = new Object();

  /** Each with the time that it has to end by itself; guarded by {@link #LOCK}. */
  private static final Map<Process, Duration> LIVING = new HashMap<>();

  /** How long the kernel may take to end one that is killed. */
  private static final Duration KILLED = Duration.ofSeconds(1);

  /** Whether this JVM exits, so that nothing more is started; guarded by {@link #LOCK}. */
  private static boolean exiting;

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(ProcessesAtExit::endAll, "talaria-children-end"));
  }

  private ProcessesAtExit() {}

  /**
   * Starts a process.
   *
   * @param builder what to start
   * @param grace how long it may take to end after SIGTERM when this JVM exits; then it is killed
   * @return the process, to be given to {@link #forget} when it has ended
   * @throws IOException if it cannot be started, or this JVM exits
   */
  public static Process start(ProcessBuilder builder, Duration grace) throws IOException {
    synchronized (LOCK) { // the end of this JVM waits until it knows of the process
      if (exiting) {
        throw new IOException("this JVM exits");
      }
      Process process = builder.start();
      LIVING.put(process, grace);
      return process;
    }
  }

  /** Leaves a process alone when this JVM exits; nothing if it is left alone already. */
  public static void forget(Process process) {
    synchronized (LOCK) {
      LIVING.remove(process);
    }
  }

  /** Lets all of them remove what they have in shared memory, and end processes of their own. */
  private static void endAll() {
    // Not the processes' own methods, which wait for the thread that writes to the process.
    Map<ProcessHandle, Duration> living = new HashMap<>();
    synchronized (LOCK) {
      exiting = true;
      LIVING.forEach((process, grace) -> living.put(process.toHandle(), grace));
    }
    living.keySet().forEach(ProcessHandle::destroy);
    long startNs = System.nanoTime();
    living.forEach(
        (process, grace) -> {
          if (!ends(process, grace.toNanos() - (System.nanoTime() - startNs))) {
            process.destroyForcibly();
          }
        });
    living.keySet().forEach(process -> ends(process, KILLED.toNanos()));
  }

  private static boolean ends(ProcessHandle process, long limitNs) {
    try {
      process.onExit().get(limitNs, TimeUnit.NANOSECONDS);
      return true;
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      return false;
    }
  }
}

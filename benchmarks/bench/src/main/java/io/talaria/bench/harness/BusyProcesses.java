// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Processes that keep the processors busy beside what is measured: what a busy host looks like.
 * They are pinned nowhere, have the same priority as what is measured, and end with this process,
 * however that ends. Used by one thread.
 */
public final class BusyProcesses implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  /** Small, and at rest but for the one thread. */
  private static final List<String> OPTIONS =
      List.of("-Xms8m", "-Xmx32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");

  private final List<ChildJvm> processes = new ArrayList<>();

  private BusyProcesses() {}

  /**
   * Starts some.
   *
   * @param count how many; may be 0
   * @return the processes, which never rest from now on; the caller closes them
   * @throws HarnessException if one does not start
   * @throws InterruptedException if interrupted
   */
  public static BusyProcesses start(int count) throws HarnessException, InterruptedException {
    BusyProcesses all = new BusyProcesses();
    try {
      for (int i = 1; i <= count; i++) {
        all.processes.add(
            ChildJvm.start(
                new ChildSpec("busy process " + i, Main.class, Pinning.NONE, null, OPTIONS)));
      }
      for (ChildJvm process : all.processes) {
        process.await("hello", Object.class, START_LIMIT);
      }
      return all;
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      all.close();
      throw e;
    }
  }

  /** Returns their process ids. */
  List<Long> pids() {
    return processes.stream().map(ChildJvm::pid).toList();
  }

  /**
   * Fails if one of them has ended: what was measured since was not measured beside it.
   *
   * @throws HarnessException which, and how it ended
   * @throws InterruptedException if interrupted
   */
  public void check() throws HarnessException, InterruptedException {
    for (ChildJvm process : processes) {
      var gone = process.gone(Duration.ZERO);
      if (gone.isPresent()) {
        throw gone.get();
      }
    }
  }

  @Override
  public void close() {
    processes.forEach(ChildJvm::close);
  }

  /** The program of such a process. */
  public static final class Main {
    private Main() {}

    /**
     * Never rests, until the parent ends it.
     *
     * @param args none
     */
    public static void main(String[] args) {
      ParentLink.serve(
          parent -> {
            while (true) {
              Thread.onSpinWait();
            }
          });
    }
  }
}

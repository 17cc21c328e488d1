// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.cli.harness.ChildJvm;
import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Pair;
import io.talaria.cli.harness.Progress;

/**
 * Runs trials, each in new JVMs. Used by one thread.
 *
 * @param launch how JVMs are started
 * @param main the class they run
 * @param timing how long
 * @param progress where to show what is done
 */
record Rounds(Launch launch, Class<?> main, Timing timing, Progress progress) {
  /**
   * Runs a trial once.
   *
   * @param trial what
   * @param contender on which road
   * @param remote where its server is; null to start one here
   * @param what what is done, for people
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  Found run(Trial trial, Contender contender, HostPort remote, String what)
      throws HarnessException, InterruptedException {
    progress.step(what, timing.expectedMs());
    try {
      return remote == null ? both(trial, contender) : client(trial, contender, remote);
    } catch (HarnessException e) {
      throw new HarnessException(
          trial.label() + " on " + contender.label() + ": " + e.getMessage(), e);
    }
  }

  private Found both(Trial trial, Contender contender)
      throws HarnessException, InterruptedException {
    try (Pair pair = launch.pair(main, contender)) {
      HostPort where = Orders.listen(pair.server(), Orders.local(), trial.job(timing));
      return measure(pair.client(), trial, contender, where);
    }
  }

  private Found client(Trial trial, Contender contender, HostPort remote)
      throws HarnessException, InterruptedException {
    try (ChildJvm client = launch.client(main)) {
      return measure(client, trial, contender, remote);
    }
  }

  private Found measure(ChildJvm client, Trial trial, Contender contender, HostPort where)
      throws HarnessException, InterruptedException {
    Orders.connect(client, where, trial.job(timing));
    Found found = Orders.result(client, Found.class, timing.limit(), progress -> {});
    Pair.requireAccelerated(contender, "client", found.roads(), trial.connections());
    return found;
  }
}

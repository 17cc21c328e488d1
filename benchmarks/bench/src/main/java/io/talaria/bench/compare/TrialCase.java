// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pair;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.util.List;

/**
 * A trial, in a client JVM and a server JVM if there is none elsewhere. Used by one thread.
 *
 * @param launch how JVMs are started
 * @param main the class they run
 * @param timing how long
 * @param trial what
 * @param remotes where the server is; empty to start one here
 */
record TrialCase(Launch launch, Class<?> main, Timing timing, Trial trial, List<HostPort> remotes)
    implements BenchmarkCase {
  @Override
  public String label() {
    return trial.label();
  }

  @Override
  public double expectedMs() {
    return timing.expectedMs();
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    iteration.step(label(), expectedMs());
    Implementation implementation = iteration.implementation();
    Found found = remotes.isEmpty() ? both(iteration) : client(iteration);
    iteration.found().add(trial.id(), trial.label(), implementation, found);
    iteration.found().addTransports(trial.label(), implementation, found.transports());
    iteration.found().addRun(trial.id(), trial.label(), implementation, found.rested(), found);
  }

  private Found both(Iteration iteration) throws HarnessException, InterruptedException {
    try (Pair pair = launch.with(trial.javaOptions()).pair(main, iteration.implementation())) {
      HostPort where = Orders.listen(pair.server(), Orders.local(), trial.job(timing));
      return Blame.servers(List.of(pair.server()), () -> measure(pair.client(), iteration, where));
    }
  }

  private Found client(Iteration iteration) throws HarnessException, InterruptedException {
    try (ChildJvm client = launch.with(trial.javaOptions()).client(main)) {
      return measure(client, iteration, remotes.get(0));
    }
  }

  private Found measure(ChildJvm client, Iteration iteration, HostPort where)
      throws HarnessException, InterruptedException {
    Orders.connect(client, where, trial.job(timing));
    Found found =
        Orders.result(client, Found.class, timing.limit(), stage -> iteration.say(stage.asText()));
    Pair.requireAccelerated(
        iteration.implementation(), "client", found.transports(), trial.connections());
    return found;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.engine;

import io.talaria.cli.harness.HarnessException;
import io.talaria.observatory.link.Binding;
import io.talaria.observatory.plan.Contender;
import io.talaria.observatory.plan.RunPlan;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;

/** Runs a plan: all contenders in turn, as often as it says, each time with new JVMs. */
public final class Coordinator implements AutoCloseable {
  private final RunPlan plan;
  private final RemoteMeasurer server;
  private final Duo duo;

  /**
   * Connects to the station.
   *
   * @param plan what to run
   * @param station where the station listens
   * @param token what it wants to hear
   * @param starter how the client's JVM is started
   * @throws HarnessException if there is no station, or it refuses
   */
  public Coordinator(RunPlan plan, InetSocketAddress station, String token, JvmStarter starter)
      throws HarnessException {
    this.plan = plan;
    server = RemoteMeasurer.connect(station, token);
    duo = new Duo(server, new LocalMeasurer(starter));
  }

  /** Returns the versions on the station's side. */
  public String serverVersions() {
    return server.versions();
  }

  /**
   * Runs it. A contender that fails is given up for this repetition; the others go on.
   *
   * @param outcome told of each case
   * @param stopped whether to leave off after the case at hand
   * @return whether all could be measured
   * @throws InterruptedException if interrupted
   */
  public boolean run(Outcome outcome, BooleanSupplier stopped) throws InterruptedException {
    boolean all = true;
    for (int repetition = 1; repetition <= plan.repetitions(); repetition++) {
      for (Contender contender : plan.contenders()) {
        if (stopped.getAsBoolean()) {
          return all;
        }
        all &= run(contender, repetition, outcome, stopped);
      }
    }
    return all;
  }

  private boolean run(Contender contender, int repetition, Outcome outcome, BooleanSupplier stopped)
      throws InterruptedException {
    Heat heat = new Heat(duo, plan, contender, repetition, outcome);
    try {
      duo.start(contender.road());
      heat.run(plan.cases(contender), this::setup, stopped);
      return true;
    } catch (HarnessException e) {
      outcome.failed(contender, heat.doing(), e.getMessage());
      return false;
    } finally {
      duo.stop();
    }
  }

  private Binding.Setup setup(int connections) {
    return new Binding.Setup(
        server.host(), plan.largestBytes(), connections, plan.threads(), plan.transports());
  }

  @Override
  public void close() {
    duo.close();
  }
}

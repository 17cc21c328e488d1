// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Contender;
import io.talaria.bench.plan.RunPlan;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Token;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Runs a plan: all contenders in turn, as often as it says, each time with new JVMs. */
public final class Coordinator implements AutoCloseable {
  private final RunPlan plan;
  private final List<RemoteMeasurer> servers = new ArrayList<>();
  private final List<LocalMeasurer> clients = new ArrayList<>();

  /**
   * Connects to the station, once for each process that it shall start.
   *
   * @param plan what to run
   * @param station where the station listens
   * @param token what it wants to hear
   * @param starter how the JVMs of this side are started
   * @throws HarnessException if there is no station, or it refuses
   */
  public Coordinator(RunPlan plan, InetSocketAddress station, String token, JvmStarter starter)
      throws HarnessException {
    this.plan = plan;
    String run = Token.random();
    int most = plan.mostProcesses();
    try {
      for (int i = 0; i < onServer(most); i++) {
        servers.add(RemoteMeasurer.connect(station, token, run));
      }
    } catch (HarnessException e) {
      close();
      throw e;
    }
    for (int i = onServer(most); i < most; i++) {
      clients.add(new LocalMeasurer(starter));
    }
  }

  /** Returns how many of some processes run on the station's side. */
  static int onServer(int processes) {
    return processes / 2;
  }

  /** Returns the versions on the station's side. */
  public String serverVersions() {
    return servers.getFirst().versions();
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
        for (List<Case> cases : plan.heats(contender)) {
          if (stopped.getAsBoolean()) {
            return all;
          }
          all &= run(contender, cases, repetition, outcome, stopped);
        }
      }
    }
    return all;
  }

  private boolean run(
      Contender contender,
      List<Case> cases,
      int repetition,
      Outcome outcome,
      BooleanSupplier stopped)
      throws InterruptedException {
    try (Crew crew = crew(cases.getFirst().processes())) {
      Heat heat = new Heat(crew, plan, contender, repetition, outcome);
      try {
        crew.start(contender.road());
        heat.run(cases, this::host, stopped);
        return true;
      } catch (HarnessException e) {
        outcome.failed(contender, heat.doing(), e.getMessage());
        return false;
      }
    }
  }

  /** Chooses processes of both sides, the station's first: it may be unable to connect to here. */
  private Crew crew(int processes) {
    List<Measurer> members = new ArrayList<>(servers.subList(0, onServer(processes)));
    members.addAll(clients.subList(0, processes - onServer(processes)));
    return new Crew(members);
  }

  /** Says how those who connect to a member of a crew reach it. */
  private String host(Crew crew, int member) {
    return member < onServer(crew.size()) ? servers.getFirst().host() : "127.0.0.1";
  }

  @Override
  public void close() {
    clients.forEach(LocalMeasurer::close);
    servers.forEach(RemoteMeasurer::close);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.cli.harness.HarnessException;
import io.talaria.observatory.plan.Contender;
import io.talaria.observatory.plan.PlanReader;
import io.talaria.observatory.plan.Road;
import io.talaria.observatory.plan.RunPlan;
import io.talaria.ucx.Ucx;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A measuring JVM that is killed, or stops to answer, in each phase. */
@Timeout(120)
class DeathTest {
  private static final String PLAN =
      """
      {"bindings": ["%s"], %s "patterns": ["pingpong"], "sizes": [16],
       "operations": {"latency": 1000000000}, "seconds": 600, "warmUpSeconds": 60,
       "limitSeconds": %d}
      """;

  /** Passes all on, but sends a signal to the victim when an order is given. */
  private record Doomed(
      Measurer measurer, String side, String victim, Orders.Phase phase, String signal)
      implements Measurer {
    @Override
    public void start(Road road) throws HarnessException, InterruptedException {
      measurer.start(road);
    }

    @Override
    public void order(Orders.Phase ordered, Object body, Duration limit) throws HarnessException {
      boolean before = !side.equals(victim) || signal.equals("STOP");
      if (ordered == phase && before) {
        Jvms.signal(victim, signal);
      }
      measurer.order(ordered, body, limit);
      if (ordered == phase && !before) {
        Jvms.signal(victim, signal);
      }
    }

    @Override
    public <T> T await(Orders.Phase awaited, Class<T> type)
        throws HarnessException, InterruptedException {
      return measurer.await(awaited, type);
    }

    @Override
    public void stop() {
      measurer.stop();
    }

    @Override
    public void close() {
      measurer.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "server, INITIALIZE, nio",
    "client, INITIALIZE, nio",
    "server, OFFER, nio",
    "server, ANSWER, nio",
    "client, ANSWER, netty",
    "server, ACCEPT, netty",
    "client, ACCEPT, nio",
    "server, PREPARE, nio",
    "client, PREPARE, nio",
    "server, OPERATE, nio",
    "client, OPERATE, nio",
    "server, OPERATE, netty",
    "server, ANSWER, ucx-tag",
    "client, OPERATE, ucx-tag"
  })
  void whoIsKilledIsNamed(String side, Orders.Phase phase, String binding) throws Exception {
    assumeTrue(!binding.startsWith("ucx") || Ucx.obstacle().isEmpty(), "UCX is not installed");
    String message = failure(binding, side, phase, "KILL", 60);
    assertThat(message.lines().findFirst().orElseThrow())
        .contains("the " + side + " ")
        .endsWith("(exit status 137)");
    assertThat(message).doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource({"server, ANSWER", "client, OPERATE"})
  void thatSomebodyDoesNotAnswerIsTold(String side, Orders.Phase phase) throws Exception {
    assertThat(failure("nio", side, phase, "STOP", 2))
        .containsPattern("the (client|server) did not report '[A-Z]+' within 2 s");
  }

  private static String failure(
      String binding, String victim, Orders.Phase phase, String signal, int limitSeconds)
      throws Exception {
    String roads = binding.startsWith("ucx") ? "" : "\"roads\": [\"plain\"],";
    RunPlan plan = PlanReader.parse("test.json", PLAN.formatted(binding, roads, limitSeconds));
    Contender contender = plan.contenders().getFirst();
    try (Hosts hosts = new Hosts();
        RemoteMeasurer server = RemoteMeasurer.connect(hosts.address(), Hosts.TOKEN, "run");
        LocalMeasurer client = new LocalMeasurer(Hosts.starter("client"))) {
      HarnessException failure;
      try (Crew crew =
          new Crew(
              List.of(
                  new Doomed(server, "server", victim, phase, signal),
                  new Doomed(client, "client", victim, phase, signal)))) {
        crew.start(contender.road());
        Heat heat = new Heat(crew, plan, contender, 1, hosts);
        failure =
            catchThrowableOfType(
                HarnessException.class,
                () -> heat.run(plan.cases(contender), (all, member) -> "127.0.0.1", () -> false));
      }
      assertThat(failure).isNotNull();
      assertThat(Jvms.pids("server")).isEmpty();
      assertThat(Jvms.pids("client")).isEmpty();
      return failure.getMessage();
    }
  }
}

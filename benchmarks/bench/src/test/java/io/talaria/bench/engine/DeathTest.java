// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.bench.harness.Pinning;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import io.talaria.ucx.Ucx;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A measuring JVM that is killed, or stops to answer, in each phase. */
@Timeout(120)
class DeathTest {
  /** How long is waited for who has been stopped, and will not answer. */
  private static final Duration SHORT = Duration.ofSeconds(2);

  /**
   * What happens when an order is given.
   *
   * @param victim to whom
   * @param ordered which side is given the order
   * @param phase which order
   * @param kills whether the victim is killed, not stopped
   */
  private record Doom(String victim, String ordered, Orders.Phase phase, boolean kills) {
    boolean comes(String side, Orders.Phase now) {
      return ordered.equals(side) && phase == now;
    }
  }

  /** Passes all on, but has doom come. */
  private record Doomed(Measurer measurer, String side, Doom doom) implements Measurer {
    @Override
    public void start(SocketTransport transport) throws HarnessException, InterruptedException {
      measurer.start(transport);
    }

    @Override
    public void order(Orders.Phase phase, Object body, Duration limit) throws HarnessException {
      if (!doom.comes(side, phase)) {
        measurer.order(phase, body, limit);
      } else if (!doom.kills()) {
        Jvms.stop(doom.victim());
        measurer.order(phase, body, SHORT);
      } else if (doom.victim().equals(side)) { // it dies while it obeys
        measurer.order(phase, body, limit);
        Jvms.kill(doom.victim());
      } else {
        Jvms.kill(doom.victim());
        measurer.order(phase, body, limit);
      }
    }

    @Override
    public <T> T await(Orders.Phase phase, Class<T> type)
        throws HarnessException, InterruptedException {
      return measurer.await(phase, type);
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

  @ParameterizedTest(name = "the {0} when the {1} is given {2}, {3}")
  @CsvSource({
    "server, server, INITIALIZE, nio",
    "server, client, ANSWER, ucx-tag",
    "client, server, ACCEPT, nio",
    "client, client, PREPARE, nio",
    "server, client, OPERATE, netty"
  })
  void whoIsKilledIsNamed(String victim, String ordered, Orders.Phase phase, String binding)
      throws Exception {
    assumeTrue(
        !binding.startsWith("ucx") || Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    String message = failure(binding, new Doom(victim, ordered, phase, true));
    assertThat(message.lines().findFirst().orElseThrow())
        .contains("the " + victim + " ")
        .endsWith("(exit status 137)");
    assertThat(message).doesNotContain("\tat ");
  }

  @ParameterizedTest(name = "the {0} when the {1} is given {2}, {3}")
  @Tag("long")
  @CsvSource({
    "server, server, OFFER, nio",
    "server, client, ANSWER, nio",
    "client, client, ANSWER, netty",
    "server, server, ACCEPT, netty",
    "server, server, OPERATE, nio",
    "client, client, OPERATE, nio",
    "client, client, OPERATE, ucx-tag"
  })
  void whoIsKilledIsNamedInOtherPhases(
      String victim, String ordered, Orders.Phase phase, String binding) throws Exception {
    whoIsKilledIsNamed(victim, ordered, phase, binding);
  }

  @ParameterizedTest(name = "the {0} when it is given {1}")
  @CsvSource({"server, ACCEPT", "client, OPERATE"})
  void whoDoesNotAnswerIsNamed(String victim, Orders.Phase phase) throws Exception {
    assertThat(failure("nio", new Doom(victim, victim, phase, false)))
        .contains("the " + victim + " did not report '" + phase + "' within 2 s");
  }

  private static String failure(String binding, Doom doom) throws Exception {
    BindingKind kind =
        Stream.of(BindingKind.values())
            .filter(one -> one.label().equals(binding))
            .findFirst()
            .orElseThrow();
    SocketTransport transport = kind.sockets() ? SocketTransport.TCP : SocketTransport.DIRECT;
    Phases.Terms terms =
        new Phases.Terms(kind, transport, 16, 0, "", false, Duration.ofSeconds(60));
    try (LocalBenchmarkServer benchmarkServer = new LocalBenchmarkServer(starter("server"));
        RemoteMeasurer server =
            RemoteMeasurer.connect(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), benchmarkServer.port()),
                LocalBenchmarkServer.TOKEN,
                "run");
        LocalMeasurer client = new LocalMeasurer(starter("client"))) {
      HarnessException failure;
      try (WorkerGroup workerGroup =
          new WorkerGroup(
              List.of(new Doomed(server, "server", doom), new Doomed(client, "client", doom)),
              WorkerPool.HERE)) {
        workerGroup.start(transport);
        Phases phases = new Phases(workerGroup, terms, false);
        failure =
            catchThrowableOfType(
                HarnessException.class,
                () -> {
                  phases.initialize();
                  phases.connect(1, 1);
                  phases.warmUp(Pattern.PINGPONG, 16, 60, 0, true);
                });
      }
      assertThat(failure).isNotNull();
      assertThat(Jvms.pids("server")).isEmpty();
      assertThat(Jvms.pids("client")).isEmpty();
      return failure.getMessage();
    }
  }

  private static JvmStarter starter(String name) {
    return new JvmStarter(
        name,
        Pinning.NONE,
        null,
        List.of(Jvms.option(name), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        List.of());
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.talaria.bench.harness.ChildGoneException;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Of the failures that a death brings about, the death itself is told, however close they are. */
class WorkerGroupTest {
  private static final int ITERATIONS = 20_000;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** One of a worker group whose orders all end in the same way. */
  private record Failing(HarnessException failure) implements Measurer {
    @Override
    public void start(SocketTransport transport) {}

    @Override
    public void order(Orders.Phase phase, Object body, Duration limit) {}

    @Override
    public <T> T await(Orders.Phase phase, Class<T> type) throws HarnessException {
      throw failure;
    }

    @Override
    public void stop() {}

    @Override
    public void close() {}
  }

  @Test
  void aDeathIsToldRatherThanWhatFollowsFromIt() {
    ChildGoneException death = new ChildGoneException("the server ended");
    Failing dead = new Failing(death);
    Failing bereft = new Failing(new HarnessException("connection refused"));
    try (WorkerGroup workerGroup = new WorkerGroup(List.of(dead, bereft), WorkerPool.HERE)) {
      for (int i = 0; i < ITERATIONS; i++) {
        assertThat(
                catchThrowable(
                    () -> workerGroup.one(1, Orders.Phase.ANSWER, "", Orders.Lines.class, LIMIT)))
            .isSameAs(death);
      }
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.time.Duration;

/** A measuring JVM that this process starts. */
final class LocalMeasurer implements Measurer {
  private final JvmStarter starter;
  private volatile ChildJvm child;
  private volatile Duration limit;

  LocalMeasurer(JvmStarter starter) {
    this.starter = starter;
  }

  @Override
  public void start(SocketTransport transport) throws HarnessException, InterruptedException {
    child = starter.start(transport);
  }

  @Override
  public void order(Orders.Phase phase, Object body, Duration atMost) throws HarnessException {
    if (atMost != null) {
      limit = atMost;
    }
    child.send(new Orders.Order(phase, Json.tree(body)));
  }

  @Override
  public <T> T await(Orders.Phase phase, Class<T> type)
      throws HarnessException, InterruptedException {
    return child.await(phase.name(), type, limit);
  }

  @Override
  public void stop() {
    ChildJvm ending = child;
    if (ending != null) {
      child = null;
      ending.close();
    }
  }

  @Override
  public void close() {
    stop();
  }
}

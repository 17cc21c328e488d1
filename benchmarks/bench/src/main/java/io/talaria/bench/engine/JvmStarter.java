// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.ChildSpec;
import io.talaria.bench.harness.Patience;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How this machine starts a measuring JVM. What it is started with is decided here, never by the
 * other machine.
 *
 * @param name its role, for messages
 * @param core the core to pin it to, or {@link io.talaria.bench.harness.Pinning#NONE}
 * @param agent the agent's jar; null: looked for when it is needed
 * @param jvmOptions further options
 * @param jars what is added to the class path
 */
public record JvmStarter(
    String name, int core, Path agent, List<String> jvmOptions, List<Path> jars) {
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  /** Copies the lists. */
  public JvmStarter {
    jvmOptions = List.copyOf(jvmOptions);
    jars = List.copyOf(jars);
  }

  /**
   * Starts a JVM.
   *
   * @param transport what its sockets run on
   * @throws HarnessException if it does not start
   * @throws InterruptedException if interrupted
   */
  ChildJvm start(SocketTransport transport) throws HarnessException, InterruptedException {
    List<String> options = new ArrayList<>(transport.jvmOptions());
    if (transport.accelerated()) {
      options.add("-Dtalaria.sockets=true");
    }
    options.addAll(jvmOptions);
    Path jar = transport.accelerated() ? AgentJar.locate(agent).file() : null;
    ChildJvm child =
        ChildJvm.start(new ChildSpec(name, MeasuringJvm.class, core, jar, options, jars));
    try {
      child.await("hello", JsonNode.class, Patience.times(START_LIMIT));
      return child;
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      child.close();
      throw e;
    }
  }
}

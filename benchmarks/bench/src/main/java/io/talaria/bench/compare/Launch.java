// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.ChildSpec;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.TransportProbe.Transports;
import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How the JVMs of a workload are started. Immutable.
 *
 * @param implementation what the sockets of a run on one implementation are
 * @param agent the agent; null if nothing runs on Talaria
 * @param transport what Talaria runs on, as {@code talaria.transports}
 * @param options the user's further options for all JVMs
 * @param pinning which JVM sits on which core
 */
public record Launch(
    Implementation implementation,
    AgentJar agent,
    String transport,
    List<String> options,
    Pinning pinning) {

  /** Netty uses Unsafe, about which Java prints a warning from 24 on. */
  private static final List<String> COMMON =
      Runtime.version().feature() < 24
          ? List.of("-Xms256m", "-Xmx1g")
          : List.of("-Xms256m", "-Xmx1g", "--sun-misc-unsafe-memory-access=allow");

  /** Copies the options. */
  public Launch {
    options = List.copyOf(options);
  }

  /** Returns the implementations that a benchmark compares: both, or the JDK's sockets only. */
  public List<Implementation> compared() {
    return implementation == Implementation.JDK
        ? List.of(implementation)
        : Implementation.ofSockets();
  }

  /** Returns the implementation in words, {@code Talaria (shm)}. */
  public String describe() {
    return implementation == Implementation.JDK
        ? "the JDK's sockets"
        : "Talaria (" + transport + ")";
  }

  /**
   * Returns the transport that connections took, in words.
   *
   * @param taken what a client saw: only that tells which of several transports it was
   */
  public String describe(Transports taken) {
    return implementation == Implementation.TALARIA && transport.contains(",")
        ? "Talaria (" + taken.describe() + ")"
        : describe();
  }

  /**
   * Starts a server JVM and a client JVM on this machine.
   *
   * @param main the class that both run
   * @param implementation the implementation whose sockets are used
   * @return both; the caller closes them
   * @throws HarnessException if one does not start
   * @throws InterruptedException if interrupted
   */
  public Pair pair(Class<?> main, Implementation implementation)
      throws HarnessException, InterruptedException {
    return Pair.start(
        main, implementation, jar(implementation), pinning, jvmOptions(own(implementation)));
  }

  /** What only the JVMs of this implementation are told. */
  private static List<String> own(Implementation implementation) {
    if (implementation == Implementation.TALARIA_BY_JUCX) {
      return List.of(ChildJvm.BY_JUCX);
    }
    if (implementation == Implementation.TALARIA_ON_TCP) {
      return ChildJvm.ON_TCP;
    }
    return implementation == Implementation.NETTY_EPOLL ? List.of(ChildJvm.NETTY_EPOLL) : List.of();
  }

  /**
   * Starts the JVM of a server.
   *
   * @param main the class that it runs
   * @return the JVM; the caller closes it
   * @throws HarnessException if it does not start
   * @throws InterruptedException if interrupted
   */
  public ChildJvm server(Class<?> main) throws HarnessException, InterruptedException {
    return start("server", main, implementation, pinning.serverCore(), List.of());
  }

  /**
   * Starts the JVM of a client.
   *
   * @param main the class that it runs
   * @return the JVM; the caller closes it
   * @throws HarnessException if it does not start
   * @throws InterruptedException if interrupted
   */
  public ChildJvm client(Class<?> main) throws HarnessException, InterruptedException {
    return start("client", main, implementation, pinning.clientCore(), List.of());
  }

  /**
   * Starts a JVM.
   *
   * @param name its role, for messages
   * @param main the class that it runs
   * @param implementation the implementation whose sockets are used
   * @param core the core to pin it to, or {@link Pinning#NONE}
   * @param more further options for this JVM
   * @return the JVM; the caller closes it
   * @throws HarnessException if it does not start
   * @throws InterruptedException if interrupted
   */
  public ChildJvm start(
      String name, Class<?> main, Implementation implementation, int core, List<String> more)
      throws HarnessException, InterruptedException {
    return Pair.startOne(
        new ChildSpec(name, main, core, jar(implementation), jvmOptions(more)), implementation);
  }

  /**
   * Returns the same with further options for all JVMs, which the user's may change.
   *
   * @param more the options
   */
  public Launch with(List<String> more) {
    List<String> all = new ArrayList<>(more);
    all.addAll(options);
    return new Launch(implementation, agent, transport, all, pinning);
  }

  /**
   * Returns the same on other cores.
   *
   * @param cores which JVM sits on which
   */
  public Launch on(Pinning cores) {
    return new Launch(implementation, agent, transport, options, cores);
  }

  /** Describes this machine and the conditions. */
  public Machine machine() {
    return Machine.describe(agent == null ? "none" : agent.version() + ", " + transport, pinning);
  }

  private Path jar(Implementation implementation) {
    return implementation.onTalaria() && agent != null ? agent.file() : null;
  }

  /** The same for all; those without Talaria do not know its property. */
  private List<String> jvmOptions(List<String> more) {
    List<String> words = new ArrayList<>(COMMON);
    words.add("-Dtalaria.transports=" + transport);
    words.addAll(more);
    words.addAll(options);
    return words;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Blame;
import io.talaria.bench.compare.Found;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.ChildSpec;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.messaging.IdleStrategy;
import io.talaria.nio.Reason;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.wire.Encryption;
import io.talaria.workloads.messages.wire.MessagesImplementation;
import io.talaria.workloads.messages.wire.MessagesJob;
import io.talaria.workloads.messages.wire.MessagesPattern;
import io.talaria.workloads.run.ScratchFolder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;

/**
 * Objects of one size in one pattern, measured between two new JVMs. If nodes are to wait not as
 * usual, it is for nodes alone, and not all carry arrays or let several threads send: in the
 * iterations of others it does nothing.
 *
 * @param pattern what is done
 * @param sizeBytes the object
 * @param threads how many of the client send, or make requests
 * @param idleStrategy what pollers of nodes do while nothing comes
 * @param agent for those on Talaria's sockets; null if there are none
 * @param timing how long
 * @param pinning which JVM sits on which core
 */
record MessagesCase(
    MessagesPattern pattern,
    int sizeBytes,
    int threads,
    IdleStrategy idleStrategy,
    Path agent,
    Timing timing,
    Pinning pinning)
    implements MessagesShown {
  private static final List<String> OPTIONS =
      List.of(
          "-Xms256m",
          "-Xmx1g",
          "--sun-misc-unsafe-memory-access=allow",
          "--add-opens",
          "java.base/jdk.internal.misc=ALL-UNNAMED",
          "--enable-native-access=ALL-UNNAMED");

  @Override
  public String label() {
    return pattern + " " + Sizes.label(sizeBytes) + how().label();
  }

  private NodesHow how() {
    return NodesHow.USUAL.with(threads).with(idleStrategy);
  }

  /** Returns the name for machines. */
  String id() {
    return pattern + "/" + sizeBytes + how().id();
  }

  @Override
  public String measure() {
    return id() + (pattern.isRequest() ? "/p50" : "/rate");
  }

  @Override
  public Quantity quantity() {
    return pattern.isRequest() ? Quantity.TIME : Quantity.PER_SECOND;
  }

  @Override
  public String times() {
    return pattern.isRequest() ? id() : null;
  }

  @Override
  public double expectedMs() {
    return START_MS + timing.expectedMs();
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    MessagesImplementation implementation = (MessagesImplementation) iteration.implementation();
    if ((idleStrategy != IdleStrategy.ADAPTIVE && !implementation.ofNodes())
        || (!Sizes.isRecord(sizeBytes) && !implementation.carriesArrays())
        || (!pattern.isRequest() && implementation.onlyRequests())
        || (threads > 1 && !implementation.manyThreads(pattern, sizeBytes))) {
      return;
    }
    iteration.step(label(), expectedMs());
    Found found = measure(implementation);
    iteration.found().add(id(), label(), implementation, found);
    iteration.found().addRun(id(), label(), implementation, found.rested(), found);
  }

  private Found measure(MessagesImplementation implementation)
      throws HarnessException, InterruptedException {
    try (ScratchFolder folder = ScratchFolder.makeInMemory()) {
      Encryption.prepare(implementation, folder.path());
      return measure(implementation, folder.path().toString());
    }
  }

  private Found measure(MessagesImplementation implementation, String directory)
      throws HarnessException, InterruptedException {
    List<ChildJvm> both = start(implementation);
    try (ChildJvm server = both.getFirst();
        ChildJvm client = both.getLast()) {
      MessagesJob job =
          new MessagesJob(
              implementation, pattern, sizeBytes, threads, idleStrategy, directory, timing);
      HostPort where = Orders.listen(server, Orders.local(), job);
      return Blame.servers(
          List.of(server),
          () -> {
            Orders.connect(client, where, job);
            return Orders.result(client, Found.class, timing.limit(), progress -> {});
          });
    }
  }

  /** Starts a server and a client; the agent brings its own library. */
  private List<ChildJvm> start(MessagesImplementation implementation)
      throws HarnessException, InterruptedException {
    int server = pinning.serverCore();
    int client = pinning.clientCore();
    if (!implementation.onTalaria() || Pair.bothPlain()) {
      return Pair.startAll(
          List.of(
              spec("server", MessagesJvm.class, server), spec("client", MessagesJvm.class, client)),
          Implementation.JDK);
    }
    return Pair.startAll(
        List.of(
            new ChildSpec("server", MessagesJvm.class, server, agent, OPTIONS),
            new ChildSpec("client", MessagesJvm.class, client, agent, OPTIONS)),
        Implementation.TALARIA);
  }

  /** A JVM with messaging, and what it is compared with, on its class path. */
  static ChildSpec spec(String name, Class<?> program, int core) {
    return new ChildSpec(name, program, core, null, OPTIONS, List.of(nio()));
  }

  /** The library that messaging stands on, which other benchmarks get from the agent alone. */
  private static Path nio() {
    try {
      return Path.of(Reason.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}

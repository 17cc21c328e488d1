// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What the counters files say of the children's connections: the tests' view from outside. */
public final class Transports {
  private static final Duration LIMIT = Settings.patience(Duration.ofSeconds(10));
  private static final int MAX_SHOWN = 1000;

  private Transports() {}

  /**
   * The open connections of a process, without its listeners.
   *
   * @param dir its run-time directory
   * @param pid the process
   * @return the connections, oldest first; none if the process has no counters file
   * @throws IOException if the directory cannot be read
   */
  public static List<ConnectionInfo> of(Path dir, long pid) throws IOException {
    return process(dir, pid).map(Transports::connections).orElse(List.of());
  }

  /**
   * The open connections of a child, without its listeners.
   *
   * @param child the process
   * @return the connections, oldest first
   * @throws IOException if the directory cannot be read
   */
  public static List<ConnectionInfo> of(Child child) throws IOException {
    return of(child.spec().talariaDir(), child.pid());
  }

  /**
   * What a child has done in all.
   *
   * @param child a process with the agent
   * @return its totals
   * @throws IOException if the directory cannot be read
   */
  public static ProcessTotals totals(Child child) throws IOException {
    return process(child.spec().talariaDir(), child.pid())
        .orElseThrow(() -> new AssertionError(child + " has no counters file"))
        .totals();
  }

  /**
   * What a child has read from transports in all.
   *
   * @param child a process
   * @return bytes; 0 if it has no counters file, because it has the JDK's sockets or no connection
   *     yet
   * @throws IOException if the directory cannot be read
   */
  public static long acceleratedInBytes(Child child) throws IOException {
    return process(child.spec().talariaDir(), child.pid())
        .map(process -> process.totals().acceleratedInBytes())
        .orElse(0L);
  }

  private static Optional<ProcessInfo> process(Path dir, long pid) throws IOException {
    return CountersReader.readDirectory(dir).processes().stream()
        .filter(process -> process.pid() == pid)
        .findFirst();
  }

  private static List<ConnectionInfo> connections(ProcessInfo process) {
    return process.connections().stream().filter(c -> c.role() != Role.LISTENER).toList();
  }

  /**
   * Waits until some connection of a child is as expected. There is no event to wait for, so this
   * looks again and again.
   *
   * @param child a process with the agent
   * @param expectation what the connection must be like
   * @param what the same in words
   * @return the connection
   * @throws IOException if the directory cannot be read
   * @throws InterruptedException if the test's time is up
   */
  public static ConnectionInfo await(
      Child child, Predicate<ConnectionInfo> expectation, String what)
      throws IOException, InterruptedException {
    return awaitAll(child, expectation, 1, what).get(0);
  }

  /**
   * Waits until so many connections of a child are as expected.
   *
   * @param child a process with the agent
   * @param expectation what each must be like
   * @param count how many, at least
   * @param what the same in words
   * @return these connections
   * @throws IOException if the directory cannot be read
   * @throws InterruptedException if the test's time is up
   */
  public static List<ConnectionInfo> awaitAll(
      Child child, Predicate<ConnectionInfo> expectation, int count, String what)
      throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      List<ConnectionInfo> all = of(child);
      List<ConnectionInfo> found = all.stream().filter(expectation).toList();
      if (found.size() >= count) {
        return found;
      }
      if (System.nanoTime() > deadlineNs || !child.alive()) {
        List<ConnectionInfo> some = all.subList(0, Math.min(all.size(), MAX_SHOWN));
        throw new AssertionError(
            child
                + " has "
                + found.size()
                + " of "
                + count
                + " connections that are "
                + what
                + "; it has:\n"
                + describe(some));
      }
      Thread.sleep(5);
    }
  }

  /**
   * Waits until a connection of a child has a transport and one of some reasons.
   *
   * @param child a process with the agent
   * @param transport the transport
   * @param reasons any of these
   * @return the connection
   * @throws IOException if the directory cannot be read
   * @throws InterruptedException if the test's time is up
   */
  public static ConnectionInfo await(Child child, NioTransport transport, Reason... reasons)
      throws IOException, InterruptedException {
    List<Reason> allowed = List.of(reasons);
    return await(
        child,
        c -> c.transport() == transport && allowed.contains(c.reason()),
        transport.code() + " because of " + allowed);
  }

  /**
   * Waits until a connection of a child is on TCP for one of some reasons.
   *
   * @param child a process with the agent
   * @param reasons any of these
   * @throws IOException if the directory cannot be read
   * @throws InterruptedException if the test's time is up
   */
  public static void awaitPlain(Child child, Reason... reasons)
      throws IOException, InterruptedException {
    await(child, NioTransport.TCP, reasons);
  }

  /**
   * Waits until the only connection between two children shows what the pair must have.
   *
   * @param pair what the children are
   * @param server the side that accepted
   * @param client the side that connected
   * @throws IOException if the directory cannot be read
   * @throws InterruptedException if the test's time is up
   */
  public static void expect(Pair pair, Child server, Child client)
      throws IOException, InterruptedException {
    if (pair.server().accelerated()) {
      await(server, expected(pair, Reason.NO_OFFER), "as " + pair + " must be");
    }
    if (pair.client().accelerated()) {
      await(client, expected(pair, Reason.PEER_NOT_ACCELERATED), "as " + pair + " must be");
    }
  }

  /**
   * Waits until each of the open connections between two children shows what the pair must have.
   *
   * @param pair what the children are
   * @param server the side that accepted
   * @param client the side that connected
   * @param count how many connections there must be, at least
   * @throws IOException if the directory cannot be read
   * @throws InterruptedException if the test's time is up
   */
  public static void expectEach(Pair pair, Child server, Child client, int count)
      throws IOException, InterruptedException {
    if (pair.server().accelerated()) {
      expectEach(server, expected(pair, Reason.NO_OFFER), count, pair);
    }
    if (pair.client().accelerated()) {
      expectEach(client, expected(pair, Reason.PEER_NOT_ACCELERATED), count, pair);
    }
  }

  private static void expectEach(
      Child child, Predicate<ConnectionInfo> expectation, int count, Pair pair)
      throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      List<ConnectionInfo> others = of(child).stream().filter(expectation.negate()).toList();
      if (others.isEmpty()) {
        awaitAll(child, expectation, count, "as " + pair + " must be");
        return;
      }
      if (System.nanoTime() > deadlineNs || !child.alive()) {
        throw new AssertionError(
            child + " has connections that are not as " + pair + " must be:\n" + describe(others));
      }
      Thread.sleep(5);
    }
  }

  /**
   * Lets two children use their connection until it shows what the pair must have: a direction
   * switches only when the program at its end reads.
   *
   * @param pair what the children are
   * @param server the side that accepted
   * @param client the side that connected
   * @param command makes a child use the connection
   * @param event what a child says when it has done so
   * @throws IOException if the directory cannot be read
   * @throws InterruptedException if the test's time is up
   */
  public static void use(Pair pair, Child server, Child client, String command, String event)
      throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    do {
      server.send(command);
      client.send(command);
      server.await(event);
      client.await(event);
    } while (!shows(pair, server, client) && System.nanoTime() < deadlineNs);
    expect(pair, server, client);
  }

  private static boolean shows(Pair pair, Child server, Child client) throws IOException {
    return (!pair.server().accelerated()
            || of(server).stream().anyMatch(expected(pair, Reason.NO_OFFER)))
        && (!pair.client().accelerated()
            || of(client).stream().anyMatch(expected(pair, Reason.PEER_NOT_ACCELERATED)));
  }

  private static Predicate<ConnectionInfo> expected(Pair pair, Reason plain) {
    return pair.accelerated()
        ? c -> c.transport() == Settings.fast() && c.reason() == Reason.SAME_HOST
        : c -> c.transport() == NioTransport.TCP && c.reason() == plain;
  }

  /**
   * Tells of connections for people.
   *
   * @param connections some
   * @return a line for each
   */
  public static String describe(List<ConnectionInfo> connections) {
    return connections.stream()
        .map(
            c ->
                String.format(
                    "%s %s -> %s %s (%s) %s in %d+%d out %d+%d stalls %d doorbells %d/%d sleeps %d"
                        + " rings %d/%d",
                    c.role().code(),
                    c.local(),
                    c.remote(),
                    c.transport().code(),
                    c.reason().code(),
                    c.detail(),
                    c.tcpInBytes(),
                    c.acceleratedInBytes(),
                    c.tcpOutBytes(),
                    c.acceleratedOutBytes(),
                    c.stalls(),
                    c.wakeupsSent(),
                    c.wakeupsReceived(),
                    c.sleeps(),
                    c.ringInBytes(),
                    c.ringOutBytes()))
        .collect(Collectors.joining("\n"));
  }
}

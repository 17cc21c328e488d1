// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.link.Binding;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Takes a worker group, whose JVMs are started, through the phases of measuring. Used by one
 * thread.
 */
public final class Phases {
  /** Operations of the first iteration of warming up. */
  private static final long FIRST_OPERATIONS = 50;

  /** How long an iteration of warming up should take. */
  private static final double ITERATION_SECONDS = 0.1;

  private static final long MIN_OPERATIONS = 10;

  /**
   * How many connections are made before they are accepted. With hundreds the first would wait for
   * so long that Talaria gives up negotiating them.
   */
  private static final int AT_ONCE = 16;

  private final WorkerGroup workerGroup;
  private final Terms terms;
  private final boolean all;

  /**
   * What all connections of a worker group have in common.
   *
   * @param kind the library
   * @param transport what its sockets run on
   * @param maxBytes the largest message
   * @param threads how many event loops connections share; 0: one each
   * @param ucxTransports {@code UCX_TLS}; empty for UCX's choice
   * @param spins whether a thread that finds nothing to do keeps its core in any case
   * @param limit how long any phase may take beyond what is measured
   */
  public record Terms(
      BindingKind kind,
      SocketTransport transport,
      int maxBytes,
      int threads,
      String ucxTransports,
      boolean spins,
      Duration limit) {}

  /**
   * Begins.
   *
   * @param workerGroup the JVMs
   * @param terms what they are for
   * @param all whether all of them lead, as in all-to-all; else the client of a pair does
   */
  public Phases(WorkerGroup workerGroup, Terms terms, boolean all) {
    this.workerGroup = workerGroup;
    this.terms = terms;
    this.all = all;
  }

  /** Of a pair the second leads, among many all do. */
  private boolean leads(int member) {
    return all || member > 0;
  }

  /**
   * Loads the library.
   *
   * @return its release; empty if it has none of its own
   * @throws LibraryMissingException if it cannot be used
   * @throws HarnessException if that fails, or Talaria is not switched as the transport wants it
   * @throws InterruptedException if interrupted
   */
  public String initialize() throws HarnessException, InterruptedException {
    List<Orders.Initialized> each =
        workerGroup.each(
            Orders.Phase.INITIALIZE,
            member -> new Orders.Initialize(terms.kind(), leads(member)),
            Orders.Initialized.class,
            terms.limit());
    for (int i = 0; i < each.size(); i++) {
      if (!each.get(i).unavailableReason().isEmpty()) {
        throw new LibraryMissingException(workerGroup.side(i) + each.get(i).unavailableReason());
      }
    }
    boolean wanted = terms.transport().accelerated();
    if (each.stream().anyMatch(one -> one.talaria() != wanted)) {
      throw new HarnessException(
          wanted
              ? "the agent did not switch Talaria on"
              : "Talaria is active in a JVM that must use the JDK's sockets");
    }
    return each.getLast().release();
  }

  /**
   * Connects each pair.
   *
   * @param connections how many connections a pair has
   * @param ofEach how many a process has
   * @throws HarnessException if one cannot be made
   * @throws InterruptedException if interrupted
   */
  public void connect(int connections, int ofEach) throws HarnessException, InterruptedException {
    for (int server = 0; server < workerGroup.size(); server++) {
      Binding.Setup setup =
          new Binding.Setup(
              workerGroup.host(server),
              terms.maxBytes(),
              ofEach,
              terms.threads(),
              terms.ucxTransports(),
              terms.spins());
      for (int client = server + 1; client < workerGroup.size(); client++) {
        for (int left = connections; left > 0; left -= AT_ONCE) {
          connect(server, client, Math.min(left, AT_ONCE), setup);
        }
      }
    }
  }

  private void connect(int server, int client, int connections, Binding.Setup setup)
      throws HarnessException, InterruptedException {
    Orders.Lines offers =
        workerGroup.one(
            server,
            Orders.Phase.OFFER,
            new Orders.Offer(setup, connections),
            Orders.Lines.class,
            terms.limit());
    Orders.Lines answers =
        workerGroup.one(
            client,
            Orders.Phase.ANSWER,
            new Orders.Meet(setup, offers.lines()),
            Orders.Lines.class,
            terms.limit());
    workerGroup.one(
        server,
        Orders.Phase.ACCEPT,
        new Orders.Meet(setup, answers.lines()),
        Orders.Nothing.class,
        terms.limit());
  }

  /**
   * Closes all connections.
   *
   * @throws HarnessException if that fails
   * @throws InterruptedException if interrupted
   */
  public void cleanUp() throws HarnessException, InterruptedException {
    each(Orders.Phase.CLEAN_UP, Orders.Nothing.INSTANCE);
  }

  private void each(Orders.Phase phase, Object body) throws HarnessException, InterruptedException {
    workerGroup.each(phase, member -> body, Orders.Nothing.class, terms.limit());
  }

  /**
   * Makes buffers, and warms up until all are warm.
   *
   * @param pattern the pattern
   * @param sizeBytes the size of a message
   * @param warmUpSeconds how long at least
   * @param ratePerSecond of the open loop; 0 for the closed one
   * @param timed whether each operation is timed, if the pattern allows it
   * @return how many operations a second there were in each connection
   * @throws HarnessException if that fails
   * @throws InterruptedException if interrupted
   */
  public double warmUp(
      Pattern pattern, int sizeBytes, double warmUpSeconds, int ratePerSecond, boolean timed)
      throws HarnessException, InterruptedException {
    each(Orders.Phase.PREPARE, new Orders.Prepare(pattern, sizeBytes, warmUpSeconds));
    long operations =
        ratePerSecond == 0
            ? FIRST_OPERATIONS
            : Math.clamp((long) (ratePerSecond * ITERATION_SECONDS), 1, FIRST_OPERATIONS);
    while (true) {
      List<Orders.Operated> done =
          operate(new Orders.Operate(operations, ratePerSecond, false, timed), terms.limit());
      double perSecond = operations * 1e9 / Math.max(1, elapsedNs(leaders(done)));
      if (done.stream().allMatch(Orders.Operated::warm)) {
        return perSecond;
      }
      operations = Math.max(1, Math.min(4 * operations, (long) (perSecond * ITERATION_SECONDS)));
    }
  }

  /**
   * What was measured.
   *
   * @param operations how many in each connection
   * @param leaders what those who lead have reported
   * @param rested whether compilers rested when measuring began
   */
  public record Measured(long operations, List<Orders.Operated> leaders, boolean rested) {
    /** Returns how long the slowest of those who lead took. */
    public long elapsedNs() {
      return Phases.elapsedNs(leaders);
    }
  }

  private static long elapsedNs(List<Orders.Operated> leaders) {
    return leaders.stream().mapToLong(Orders.Operated::elapsedNs).max().orElseThrow();
  }

  /**
   * Measures.
   *
   * @param perSecond how many operations a second there were when warm
   * @param seconds for how long, about
   * @param most how many operations at most in each connection
   * @param ratePerSecond of the open loop; 0 for the closed one
   * @param timed whether each operation is timed, if the pattern allows it
   * @param connections how many connections of each process must be accelerated on such a transport
   * @throws HarnessException if that fails, or connections were not accelerated
   * @throws InterruptedException if interrupted
   */
  public Measured measure(
      double perSecond,
      double seconds,
      long most,
      int ratePerSecond,
      boolean timed,
      int connections)
      throws HarnessException, InterruptedException {
    long operations = Math.min(most, Math.max(MIN_OPERATIONS, (long) (perSecond * seconds)));
    List<Orders.Operated> done =
        operate(
            new Orders.Operate(operations, ratePerSecond, true, timed),
            terms.limit().plusMillis((long) (2_000 * operations / perSecond)));
    List<Orders.Operated> leaders = leaders(done);
    for (Orders.Operated leader : leaders) {
      requireAccelerated(leader.transports(), connections);
    }
    return new Measured(operations, leaders, done.stream().allMatch(Orders.Operated::rested));
  }

  private List<Orders.Operated> operate(Orders.Operate order, Duration most)
      throws HarnessException, InterruptedException {
    return workerGroup.operate(order, this::leads, most);
  }

  private List<Orders.Operated> leaders(List<Orders.Operated> done) {
    return IntStream.range(0, done.size()).filter(this::leads).mapToObj(done::get).toList();
  }

  private void requireAccelerated(TransportProbe.Transports transports, int connections)
      throws HarnessException {
    if (terms.transport().accelerated() && transports.accelerated() < connections) {
      throw new HarnessException(
          "NOT ACCELERATED: of "
              + connections
              + " connections "
              + transports.accelerated()
              + " are on a transport: "
              + transports.describe());
    }
  }

  /**
   * Has the server's side of a pair start a server of {@code ucx_perftest}, for one test.
   *
   * @return its port
   * @throws HarnessException if it is not installed there
   * @throws InterruptedException if interrupted
   */
  public int startPerftest() throws HarnessException, InterruptedException {
    return workerGroup.one(
        0,
        Orders.Phase.PERFTEST,
        new Orders.Perftest(terms.ucxTransports()),
        Integer.class,
        terms.limit());
  }
}

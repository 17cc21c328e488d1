// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.PortId;
import io.talaria.monitor.RateTracker;
import io.talaria.monitor.Rates;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Keeps querying a fabric in a thread of its own, {@code talaria-fabric}, so that no caller waits
 * for the responses. Any thread may call; the caller that started it closes it.
 */
public final class FabricMonitor implements AutoCloseable {
  private static final long REDISCOVER_NS = 600_000_000_000L;
  private static final long RETRY_OPEN_NS = 10_000_000_000L;
  private static final long NS_PER_MS = 1_000_000;

  private final FabricOptions options;
  private final Thread thread = new Thread(this::run, "talaria-fabric");

  /** What follows is guarded by this. */
  private final Set<PortId> shown = new LinkedHashSet<>();

  private final Map<PortId, Rates> rates = new HashMap<>();
  private final Map<PortId, QueryResult.Status> failures = new HashMap<>();
  private Topology topology;
  private String problem = "";
  private long everyNs;
  private boolean shownChanged;
  private boolean rediscover = true;
  private boolean closed;

  /**
   * What is known of the fabric at a time.
   *
   * @param topology who is in it; null before the first discovery
   * @param problem why it cannot be queried, with the hint; empty if it can
   * @param rates of the ports that responded
   * @param failures why the others did not
   */
  public record View(
      Topology topology,
      String problem,
      Map<PortId, Rates> rates,
      Map<PortId, QueryResult.Status> failures) {}

  private FabricMonitor(FabricOptions options, long everyNs) {
    this.options = options;
    this.everyNs = everyNs;
    thread.setDaemon(true);
  }

  /**
   * Starts the thread, which opens and discovers the fabric.
   *
   * @param options how to query
   * @param everyNs how often each port is queried, from 1 ms
   * @return the monitor, which knows nothing yet
   */
  public static FabricMonitor start(FabricOptions options, long everyNs) {
    FabricMonitor monitor = new FabricMonitor(options, Math.max(NS_PER_MS, everyNs));
    monitor.thread.start();
    return monitor;
  }

  /**
   * Says which ports are looked at; no others are queried.
   *
   * @param ports their names; those that are not in the fabric are left out
   */
  public synchronized void show(Collection<PortId> ports) {
    if (!shown.equals(Set.copyOf(ports))) {
      shown.clear();
      shown.addAll(ports);
      shownChanged = true;
      notifyAll();
    }
  }

  /**
   * Says how often each port is queried.
   *
   * @param ns nanoseconds, from 1 ms
   */
  public synchronized void every(long ns) {
    everyNs = Math.max(NS_PER_MS, ns);
    shownChanged = true;
    notifyAll();
  }

  /** Has the fabric discovered again, soon. */
  public synchronized void rediscover() {
    rediscover = true;
    notifyAll();
  }

  /**
   * What is known now.
   *
   * @return copies
   */
  public synchronized View view() {
    return new View(topology, problem, Map.copyOf(rates), Map.copyOf(failures));
  }

  /**
   * Waits until the fabric is discovered, or there is a reason why it cannot be.
   *
   * @return what is known then
   * @throws InterruptedException if this thread is interrupted
   */
  public synchronized View awaitTopology() throws InterruptedException {
    while (!closed && topology == null && problem.isEmpty()) {
      wait();
    }
    return view();
  }

  /**
   * Waits until every port that is shown has responded or not, or there is a reason why none can be
   * queried.
   *
   * @return what is known then
   * @throws InterruptedException if this thread is interrupted
   */
  public synchronized View awaitResponses() throws InterruptedException {
    while (!closed && problem.isEmpty() && !allResponded()) {
      wait();
    }
    return view();
  }

  /** Under the lock: whether every port that is shown and is there has said something. */
  private boolean allResponded() {
    return topology != null
        && topology
            .ports()
            .map(port -> port.port().id())
            .filter(shown::contains)
            .allMatch(id -> rates.containsKey(id) || failures.containsKey(id));
  }

  private void run() {
    try {
      while (!isClosed()) {
        try (Fabric fabric = Fabric.open(options)) {
          watch(fabric);
        } catch (FabricException e) {
          problem(e.getMessage());
          pause(RETRY_OPEN_NS);
        }
      }
    } catch (InterruptedException e) {
      // Closed.
    } catch (RuntimeException | Error e) {
      problem("querying the fabric has failed: " + e);
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private synchronized void problem(String text) {
    problem = text;
    notifyAll();
  }

  private synchronized void pause(long ns) throws InterruptedException {
    long endNs = System.nanoTime() + ns;
    while (!closed && endNs - System.nanoTime() > 0) {
      wait(Math.max(1, (endNs - System.nanoTime()) / NS_PER_MS));
    }
  }

  private void watch(Fabric fabric) throws FabricException, InterruptedException {
    RateTracker tracker = new RateTracker();
    Map<PortId, FabricPort> places = new HashMap<>();
    QueryPlan plan = new QueryPlan(options.queriesPerSecond(), everyNs(), System.nanoTime());
    long discoveredNs = 0;
    boolean discovered = false;
    while (true) {
      if (due(discovered && System.nanoTime() - discoveredNs < REDISCOVER_NS)) {
        Topology found = fabric.discover();
        discoveredNs = System.nanoTime();
        discovered = true;
        places.clear();
        found.ports().forEach(port -> places.put(port.port().id(), port));
        accept(found, places.keySet());
      }
      PortId next = await(plan, places);
      if (next == null) {
        if (isClosed()) {
          return;
        }
        continue;
      }
      QueryResult result = fabric.query(places.get(next));
      long nowNs = System.nanoTime();
      if (result.status() == QueryResult.Status.RESPONDED) {
        plan.responded(next, nowNs);
        accept(next, tracker.update(result.reading()));
      } else {
        plan.silent(next, nowNs);
        refuse(next, result.status());
      }
    }
  }

  private synchronized long everyNs() {
    return everyNs;
  }

  /** Whether to discover now. */
  private synchronized boolean due(boolean recent) {
    boolean wanted = rediscover || !recent;
    rediscover = false;
    return wanted;
  }

  private synchronized void accept(Topology found, Set<PortId> there) {
    topology = found;
    problem = "";
    rates.keySet().retainAll(there);
    failures.keySet().retainAll(there);
    shownChanged = true;
    notifyAll();
  }

  private synchronized void accept(PortId port, Rates now) {
    rates.put(port, now);
    failures.remove(port);
    notifyAll();
  }

  private synchronized void refuse(PortId port, QueryResult.Status status) {
    failures.put(port, status);
    notifyAll();
  }

  /** Waits until a port is due and returns it; null if something else must be looked at first. */
  private synchronized PortId await(QueryPlan plan, Map<PortId, FabricPort> places)
      throws InterruptedException {
    if (shownChanged) {
      shownChanged = false;
      plan.every(everyNs);
      plan.ports(shown.stream().filter(places::containsKey).toList(), System.nanoTime());
    }
    long endNs = System.nanoTime() + REDISCOVER_NS;
    while (!closed && !rediscover && !shownChanged && System.nanoTime() - endNs < 0) {
      long waitNs = plan.waitNs(System.nanoTime());
      if (waitNs == 0) {
        return plan.next(System.nanoTime());
      }
      wait(Math.max(1, Math.min(waitNs, REDISCOVER_NS) / NS_PER_MS));
    }
    return null;
  }

  /** Ends the thread, which may be waiting for a response and ends after it. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    boolean interrupted = false;
    while (true) {
      try {
        // A response is waited for only so long; a discovery of a large fabric is not waited for.
        thread.join((long) options.timeoutMs() * options.tries() * 3 + 1000);
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}

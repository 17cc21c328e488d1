// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.dispatch.Timers;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.handshake.Fnv;
import io.talaria.messaging.node.Connector;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.node.RemotePeer;
import io.talaria.messaging.node.StallDetector;
import io.talaria.messaging.records.ThreadContext;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The one thread that manages the connections of a node: the event loop of {@link Dialer}, {@link
 * Acceptor}, {@link Handshakes} and {@link ConnectionTable}. It never waits for a peer.
 */
public final class Conductor extends Thread implements Connector {
  private static final long TICK_NS = 500_000_000L;
  private static final long JOIN_MS = 1_000;

  private final LocalNode node;
  private final Selector selector;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Timers timers;
  private final Listeners listeners;
  private final TransportChoice transports;
  private final Handshakes handshakes;
  private final ConnectionTable connections;
  private final Dialer dialer;
  private final Acceptor acceptor;
  private final StallDetector stallDetector;
  private final StatePublisher publisher;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean stopped;

  /**
   * Opens the listeners; {@link #start} follows.
   *
   * @throws IOException if an address cannot be listened on, or the key not be read
   */
  public Conductor(LocalNode node) throws IOException {
    super(node.threadName("conductor"));
    setDaemon(true);
    this.node = node;
    Identity identity =
        new Identity(node, Fnv.hash(node.options().cluster()), new SecureRandom().nextLong());
    NodeSecurity security = new NodeSecurity(node.options());
    transports =
        new TransportChoice(
            node.options(), node.networks(), node.types(), security, identity.incarnation());
    selector = Selector.open();
    timers = new Timers(selector::wakeup);
    boolean announced = transports.usesThisHost();
    try {
      if (announced) {
        transports.sweep();
      }
      listeners = new Listeners(node.options(), security, identity.cluster(), announced, selector);
    } catch (IOException | RuntimeException e) {
      selector.close();
      throw e;
    }
    PeerStates peers = new PeerStates(node, timers);
    connections = new ConnectionTable(node, timers, peers);
    handshakes = new Handshakes(selector, timers, security, transports, peers, connections);
    dialer =
        new Dialer(
            identity,
            this::execute,
            timers,
            peers,
            listeners,
            security,
            transports,
            connections,
            handshakes);
    acceptor = new Acceptor(identity, timers, peers, listeners, dialer);
    stallDetector = new StallDetector(node);
    publisher = new StatePublisher(identity, connections);
    timers.at(System.nanoTime() + TICK_NS, this::tick);
  }

  @Override
  public int port() {
    return listeners.port();
  }

  @Override
  public int connected() {
    return connections.size();
  }

  @Override
  public List<Connection> connections() {
    return connections.copy();
  }

  @Override
  public Timers timers() {
    return timers;
  }

  @Override
  public void want(RemotePeer peer) {
    dialer.want(peer);
  }

  @Override
  public void grow(Connection connection, int priority) {
    execute(() -> connection.grow(priority));
  }

  @Override
  public void heard(Connection connection, byte kind) {
    execute(() -> connections.heard(connection, kind));
  }

  @Override
  public void severed(Connection connection) {
    execute(() -> connections.severed(connection));
  }

  @Override
  public void ended(Connection connection) {
    execute(() -> connections.ended(connection));
  }

  // ---- the event loop

  private void execute(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  @Override
  public void run() {
    ThreadContext.current().poller = true; // its listeners must not wait
    tasks.add(publisher::publish);
    while (!stopped) {
      try {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
          task.run();
        }
        long wait = timers.runDue(TICK_NS);
        Thread.interrupted(); // by a listener: the selector would not sleep
        selector.select(wait);
        for (SelectionKey each : List.copyOf(selector.selectedKeys())) {
          ready(each);
        }
        selector.selectedKeys().clear();
      } catch (Throwable e) {
        node.events().internal("conductor", e); // and continues: the node needs this thread
      }
    }
    closeNow();
  }

  private void ready(SelectionKey key) {
    if (!key.isValid()) {
      return;
    }
    if (key.attachment() instanceof PendingHandshake handshake) {
      handshakes.step(handshake);
    } else if (key.isAcceptable()) {
      acceptor.accept(key);
    }
  }

  private void tick() {
    timers.at(
        System.nanoTime() + TICK_NS, this::tick); // first: whatever happens, there is a next one
    connections.watch();
    node.handlers().lookAfterTasks();
    node.responseSlots().sweep();
    connections.makeRoom(); // one that was asked before may have been in use
    if (stallDetector.look()) {
      timers.at(
          System.nanoTime() + StallDetector.OPEN_NS, stallDetector::lookAgain); // from that look on
    }
    publisher.publish();
  }

  // ---- the end

  @Override
  public boolean isCurrentThread() {
    return Thread.currentThread() == this;
  }

  @Override
  public void closeListeners() {
    listeners.close();
    selector.wakeup();
  }

  @Override
  public void awaitEnd(long millis) throws InterruptedException {
    boolean ignored = ended.await(millis, TimeUnit.MILLISECONDS);
  }

  @Override
  public void stopSoon() {
    stopped = true;
    selector.wakeup();
  }

  @Override
  public void abandon() {
    closeNow();
  }

  /** Whatever fails, the rest is done: threads wait for it. */
  private void closeNow() {
    closeGuarded(this::closeListeners);
    closeGuarded(handshakes::endAll);
    node.poller().stopSoon();
    Thread.interrupted(); // by a listener: the poller must have ended before its memory goes
    joinPoller();
    closeGuarded(connections::closeAll);
    closeGuarded(node.networks()::close);
    for (RemotePeer peer : node.remotes()) {
      closeGuarded(() -> peer.connection(null));
    }
    closeGuarded(transports::removeFiles);
    closeGuarded(publisher::remove);
    try {
      selector.close();
    } catch (IOException e) {
      // It was for this thread alone.
    }
    ended.countDown();
    // Who closes the node need not wait for that.
    closeGuarded(connections::unmapAll);
  }

  private void closeGuarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      node.events().internal("close", e);
    }
  }

  private void joinPoller() {
    try {
      node.poller().join(JOIN_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeCounters;
import io.talaria.messaging.NodeListener;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.NodeSet;
import io.talaria.messaging.Peer;
import io.talaria.messaging.counters.Counts;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.engine.ConnectionOwner;
import io.talaria.messaging.engine.Delivery;
import io.talaria.messaging.engine.LargeMemory;
import io.talaria.messaging.engine.NodeEvents;
import io.talaria.messaging.engine.Poller;
import io.talaria.messaging.engine.ResponseSlots;
import io.talaria.messaging.types.Types;
import io.talaria.nio.spin.Spinning;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** A node that runs in this process: creates its parts, and connects them. */
public final class LocalNode implements Node, ConnectionOwner {
  /**
   * A thread that waits for a response spins as long as so many spins: a peer that sleeps answers
   * after its wake-up, and a thread that has gone to sleep before costs two more, the poller's and
   * its own.
   */
  private static final int LEADER_SPINS = 8;

  private final NodeOptions options;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Counts counts = new Counts();
  private final NodeEvents events;
  private final Types types;
  private final Handlers handlers;
  private final Networks networks;
  private final Spinning leaderSpinning;
  private final Poller poller;
  private final LargeMemory largeMemory;
  private final Delivery delivery;
  private final Connector connector;
  private final ResponseSlots responseSlots;
  private final MultiSend multiSend = new MultiSend(this);
  private final Shutdown shutdown;
  private final ConcurrentHashMap<Integer, RemotePeer> peers = new ConcurrentHashMap<>();

  /** Whether silent peers are sent PING and given up in the end; false in tests of wake-ups. */
  private final boolean looksAfterPeers;

  private LocalNode(NodeOptions options, Connector.Factory factory, boolean looksAfterPeers)
      throws IOException {
    this.options = options;
    this.looksAfterPeers = looksAfterPeers;
    events = new NodeEvents(options.id(), closed::get, counts);
    types = new Types(options);
    handlers =
        new Handlers(
            threadName("handler-"),
            options.handlers(),
            options.maxHandlers(),
            thrown -> events.internal("a handler", thrown));
    leaderSpinning = new Spinning(LEADER_SPINS * options.spin().toNanos());
    Spinning spinning = new Spinning(options.spin().toNanos());
    networks = Networks.open(options, this::threadName, spinning);
    try {
      poller =
          new Poller(this, threadName("poller"), networks.open(), spinning, options.idleStrategy());
    } catch (IOException e) {
      networks.close();
      throw e;
    }
    largeMemory = new LargeMemory(options.receiveBudget(), poller::execute);
    delivery =
        new Delivery(
            options, types, handlers, poller, largeMemory, counts, events, threadName("virtual"));
    try {
      connector = factory.open(this);
    } catch (IOException | RuntimeException e) {
      poller.close();
      networks.close();
      throw e;
    }
    responseSlots = new ResponseSlots(connector.timers());
    shutdown = new Shutdown(closed, handlers, poller, connector, responseSlots);
  }

  /**
   * Starts one, which the caller closes.
   *
   * @param factory makes what manages its connections
   */
  public static LocalNode start(NodeOptions options, Connector.Factory factory) throws IOException {
    return start(options, factory, true);
  }

  /** The same for tests of wake-ups: without periodic checks that would hide a lost wake-up. */
  public static LocalNode start(
      NodeOptions options, Connector.Factory factory, boolean looksAfterPeers) throws IOException {
    LocalNode node = new LocalNode(options, factory, looksAfterPeers);
    boolean runs = false;
    try {
      node.networks.begin(node.poller::wake, looksAfterPeers);
      node.poller.start();
      node.connector.start();
      runs = true;
    } finally {
      if (!runs) { // there is no memory for a thread
        node.closed.set(true);
        node.connector.abandon();
        node.poller.close();
      }
    }
    try {
      node.shutdown.runAtExit();
    } catch (IllegalStateException e) {
      node.close(Duration.ZERO);
      throw new IOException("this process is exiting", e);
    }
    return node;
  }

  // ---- called by the program

  @Override
  public int id() {
    return options.id();
  }

  @Override
  public Peer peer(int id) {
    if (id < 0 || id > NodeOptions.MAX_ID) {
      throw new IllegalArgumentException(
          "id is " + id + ", it must be from 0 to " + NodeOptions.MAX_ID);
    }
    return remote(id);
  }

  @Override
  public int send(NodeSet nodes, Object message, long[] outcome) {
    return multiSend.send(nodes, message, outcome);
  }

  @Override
  public void listen(NodeListener listener) {
    events.listen(listener);
  }

  @Override
  public int port() {
    return connector.port();
  }

  @Override
  public NodeCounters counters() {
    return new NodeCounters(
        connector.connected(),
        counts.connectedSum(),
        counts.lostSum(),
        counts.receivedSum(),
        counts.droppedSum(),
        counts.failedSum(),
        counts.lateSum(),
        counts.unansweredSum(),
        counts.stalledSum(),
        responseSlots.open());
  }

  @Override
  public long close(Duration timeout) {
    return shutdown.run(timeout);
  }

  // ---- its state, for its parts

  public RemotePeer remote(int id) {
    RemotePeer known = peers.get(id);
    return known != null ? known : peers.computeIfAbsent(id, each -> new RemotePeer(this, each));
  }

  public Collection<RemotePeer> remotes() {
    return peers.values();
  }

  @Override
  public boolean closing() {
    return closed.get();
  }

  void mustBeOpen() throws MessagingException {
    if (closing()) {
      throw new MessagingException(MessagingException.Code.CLOSED, "node " + id() + " is closed");
    }
  }

  public boolean looksAfterPeers() {
    return looksAfterPeers;
  }

  @Override
  public long sendTimeoutNs() {
    return options.sendTimeout().toNanos();
  }

  public String threadName(String part) {
    return "talaria-" + options.id() + "-" + part;
  }

  // ---- told by its connections

  @Override
  public void grow(Connection connection, int priority) {
    connector.grow(connection, priority);
  }

  @Override
  public void heard(Connection connection, byte kind) {
    connector.heard(connection, kind);
  }

  @Override
  public void severed(Connection connection, String reason, long unacknowledgedBytes) {
    boolean lost = !endsInOrder(connection);
    if (lost) {
      counts.lost();
    }
    connector.severed(connection);
    if (lost) {
      events.lost(connection.peer, reason, unacknowledgedBytes);
    }
  }

  @Override
  public void removed(Connection connection, String reason, long unacknowledgedBytes) {
    boolean lost = !connection.sendingEnded() && !endsInOrder(connection); // else it was reported
    if (lost) {
      counts.lost();
    }
    connector.ended(connection);
    if (lost) {
      events.lost(connection.peer, reason, unacknowledgedBytes);
    }
  }

  private boolean endsInOrder(Connection connection) {
    // A node that closes ends its output right behind its GOODBYE: the poller may find that end
    // before the conductor, which sets leaving, has heard of the GOODBYE.
    boolean agreed = connection.closing().leaving || connection.closing().cameWhole();
    return closing() || (agreed && connection.sender().allDelivered());
  }

  // ---- its parts, for each other

  @Override
  public NodeOptions options() {
    return options;
  }

  @Override
  public Counts counts() {
    return counts;
  }

  @Override
  public NodeEvents events() {
    return events;
  }

  @Override
  public Types types() {
    return types;
  }

  public Handlers handlers() {
    return handlers;
  }

  public Networks networks() {
    return networks;
  }

  @Override
  public Spinning leaderSpinning() {
    return leaderSpinning;
  }

  @Override
  public Poller poller() {
    return poller;
  }

  @Override
  public LargeMemory largeMemory() {
    return largeMemory;
  }

  @Override
  public Delivery delivery() {
    return delivery;
  }

  public Connector connector() {
    return connector;
  }

  @Override
  public ResponseSlots responseSlots() {
    return responseSlots;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeCounters;
import io.talaria.messaging.NodeListener;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.NodeSet;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Transport;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.dispatch.Task;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.ucx.UcxTransport;
import io.talaria.nio.spin.Spinning;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A node that runs in this process: creates its parts, and connects them. */
public final class LocalNode implements Node {
  private static final System.Logger LOG = System.getLogger("io.talaria.messaging");
  private static final long EXIT_NS = 2_000_000_000L;
  private static final long END_NS = 1_000_000_000L;

  private final NodeOptions options;
  private final Types types;
  private final ResponseSlots responseSlots = new ResponseSlots(this);
  private final Counts counts = new Counts();
  private final SlabPool slabs;
  private final LargeMemory largeMemory;
  private final Handlers handlers;
  private final Delivery delivery;
  private final Spinning leaderSpinning;

  /** Null if transport ucx is off or cannot be used. */
  private final NetworkTransport network;

  /** Why {@link #network} is null. */
  private String networkUnavailableReason;

  private final Poller poller;
  private final Conductor conductor;
  private final ConcurrentHashMap<Integer, RemotePeer> peers = new ConcurrentHashMap<>();
  private final List<NodeListener> listeners = new CopyOnWriteArrayList<>();
  private final AtomicInteger leaders = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Thread exitHook = new Thread(this::closeAtExit, "talaria-exit");

  /** Whether silent peers are sent PING and given up in the end; false in tests of wake-ups. */
  private final boolean looksAfterPeers;

  private LocalNode(NodeOptions options, boolean looksAfterPeers) throws IOException {
    this.options = options;
    this.looksAfterPeers = looksAfterPeers;
    types = new Types(options);
    slabs = new SlabPool(options.receiveBudget());
    largeMemory = new LargeMemory(options.receiveBudget());
    handlers =
        new Handlers(
            threadName("handler-"),
            options.handlers(),
            options.maxHandlers(),
            thrown -> internal("a handler", thrown));
    delivery = new Delivery(this, handlers);
    leaderSpinning = new Spinning(options.spin().toNanos());
    network = openNetwork();
    try {
      conductor = new Conductor(this);
    } catch (IOException | RuntimeException e) {
      closeNetwork();
      throw e;
    }
    try {
      poller = new Poller(this, new Spinning(options.spin().toNanos()), options.idleStrategy());
    } catch (IOException e) {
      conductor.undo();
      throw e;
    }
    if (network != null) {
      network.begin(poller::wake, looksAfterPeers);
    }
  }

  private NetworkTransport openNetwork() throws IOException {
    if (!options.transports().contains(Transport.UCX)) {
      networkUnavailableReason = "transport ucx is off";
      return null;
    }
    try {
      return UcxTransport.open(threadName("ucx"), options.maxConnections());
    } catch (IOException e) {
      networkUnavailableReason = e.getMessage();
    } catch (LinkageError e) {
      networkUnavailableReason =
          "the modules io.talaria.ucx and io.talaria.ffi are not there: put their jars on the class"
              + " path, or add --add-modules io.talaria.ucx ("
              + e
              + ")";
    }
    if (options.transports().size() == 1) {
      throw new IOException(
          "transport ucx is the only one, and cannot be used: " + networkUnavailableReason);
    }
    LOG.log(
        System.Logger.Level.INFO,
        () -> "node " + id() + " goes without ucx: " + networkUnavailableReason);
    return null;
  }

  /** The engine of transport ucx, or null if it is not used. */
  NetworkTransport network() {
    return network;
  }

  /** Why {@link #network} returns null; else null. */
  String networkUnavailableReason() {
    return networkUnavailableReason;
  }

  void closeNetwork() {
    if (network != null) {
      network.close();
    }
  }

  /** See {@link Node#start}. */
  public static LocalNode start(NodeOptions options) throws IOException {
    return start(options, true);
  }

  /** The same for tests of wake-ups: without periodic checks that would hide a lost wake-up. */
  static LocalNode start(NodeOptions options, boolean looksAfterPeers) throws IOException {
    LocalNode node = new LocalNode(options, looksAfterPeers);
    node.poller.start();
    node.conductor.start();
    try {
      Runtime.getRuntime().addShutdownHook(node.exitHook);
    } catch (IllegalStateException e) {
      node.close(Duration.ZERO);
      throw new IOException("this process is exiting", e);
    }
    return node;
  }

  private void closeAtExit() {
    close(Duration.ofNanos(EXIT_NS));
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

  RemotePeer remote(int id) {
    RemotePeer known = peers.get(id);
    return known != null ? known : peers.computeIfAbsent(id, each -> new RemotePeer(this, each));
  }

  @Override
  public int send(NodeSet nodes, Object message, long[] outcome) {
    Objects.requireNonNull(message, "message");
    if (outcome.length < nodes.size()) {
      throw new IllegalArgumentException(
          "room for " + outcome.length + " outcomes of " + nodes.size() + " nodes");
    }
    ThreadContext context = ThreadContext.current();
    context.mustNotBeInCodec();
    TypeEntry type = types.of(message);
    int size = Sender.encode(context, type, message);
    MemorySegment encoded = context.scratch(size);
    long deadline = System.nanoTime() + (context.poller ? 0 : sendTimeoutNs());
    int good = 0;
    for (int i = 0; i < nodes.size(); i++) {
      outcome[i] = copyTo(remote(nodes.id(i)), context, encoded, size, type);
    }
    for (int i = 0; i < nodes.size(); i++) {
      while ((outcome[i] == Peer.CONNECTING || outcome[i] == Peer.BACK_PRESSURED)
          && System.nanoTime() - deadline < 0
          && !Thread.currentThread().isInterrupted()) {
        LockSupport.parkNanos(100_000);
        outcome[i] = copyTo(remote(nodes.id(i)), context, encoded, size, type);
      }
      good += outcome[i] > 0 ? 1 : 0;
    }
    context.scratchUsed();
    return good;
  }

  private long copyTo(
      RemotePeer peer, ThreadContext context, MemorySegment encoded, int size, TypeEntry type) {
    if (closing()) {
      return Peer.CLOSED;
    }
    Connection now = peer.connection();
    if (now == null) {
      want(peer);
      return Peer.CONNECTING;
    }
    RecordHead head = context.head.of(type.index, Records.MESSAGE, 0, 0, 0);
    if (now.holds().heldBack(head.what())) {
      return now.sender().whileHeldBack();
    }
    return size > now.maxThere
        ? Peer.TOO_LARGE
        : Sender.orNoRoom(now.sender().put(context, encoded, 0, size, RingPair.DATA, head));
  }

  @Override
  public void listen(NodeListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
  }

  @Override
  public int port() {
    return conductor.port();
  }

  @Override
  public NodeCounters counters() {
    return new NodeCounters(
        conductor.connections().size(),
        counts.connectedSum(),
        counts.lostSum(),
        counts.receivedSum(),
        counts.droppedSum(),
        counts.failedSum(),
        counts.lateSum(),
        counts.forgottenSum(),
        counts.stalledSum(),
        responseSlots.open());
  }

  @Override
  public long close(Duration timeout) {
    if (!closed.compareAndSet(false, true)) {
      return 0;
    }
    boolean inside = ThreadContext.current().poller || Thread.currentThread() == conductor;
    long deadline = System.nanoTime() + (inside ? 0 : RemotePeer.nanos(timeout));
    conductor.closeListeners();
    List<Connection> all = conductor.connections().copy();
    await(deadline, () -> settled(all));
    for (Connection each : all) {
      if (each.link().session() != null && !each.dead()) {
        each.leaving = true;
        each.agreeToPart();
      }
      each.sender().seal();
    }
    poller.wake();
    await(deadline, () -> settled(all));
    awaitEnds(all, Math.min(deadline, System.nanoTime() + END_NS));
    long left = 0;
    for (Connection each : all) {
      if (!each.dead()) {
        left += each.sender().unconsumedBytes();
      }
      responseSlots.failAll(each, MessagingException.Code.CLOSED, "this node was closed");
    }
    handlers.stop();
    conductor.stopSoon();
    try {
      if (!inside) {
        long ended = System.nanoTime() + EXIT_NS;
        handlers.awaitStopped(Math.min(ended, deadline + EXIT_NS / 4));
        conductor.join(EXIT_NS / 1_000_000);
        poller.join(EXIT_NS / 1_000_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try {
      Runtime.getRuntime().removeShutdownHook(exitHook);
    } catch (IllegalStateException e) {
      // The process is exiting.
    }
    return left;
  }

  /**
   * Finishes the output of drained connections, and waits for the other ends to close, so that no
   * bytes on their way are lost.
   */
  private void awaitEnds(List<Connection> all, long deadline) {
    for (Connection each : all) {
      if (!each.dead() && each.sender().unconsumedBytes() == 0) {
        each.link().finishOutput();
      }
    }
    await(
        deadline,
        () -> {
          poller.wake();
          return all.stream().allMatch(each -> each.dead() || each.link().session() == null);
        });
  }

  private boolean settled(List<Connection> all) {
    for (Connection each : all) {
      if (!each.dead()
          && (each.sender().unconsumedBytes() != 0
              || !each.outbox().isEmpty()
              || !each.deliveries.none())) {
        return false;
      }
    }
    return handlers.isEmpty();
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(long deadline, Condition condition) {
    while (!condition.holds() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(500_000);
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
    }
  }

  // ---- called by the node's parts

  NodeOptions options() {
    return options;
  }

  Types types() {
    return types;
  }

  ResponseSlots responseSlots() {
    return responseSlots;
  }

  Counts count() {
    return counts;
  }

  SlabPool slabs() {
    return slabs;
  }

  LargeMemory largeMemory() {
    return largeMemory;
  }

  /** Grants memory to the large messages that wait for it, while there is any. Poller only. */
  void grantLarge() {
    for (LargeMemory.Asked next = largeMemory.next(); next != null; next = largeMemory.next()) {
      next.by().granted(next.stream(), next.total());
    }
  }

  /** Gives back the memory of a large message that was read; does nothing for 0. Any thread. */
  void giveBackLarge(long bytes) {
    if (bytes != 0 && largeMemory.giveBackHanded(bytes)) {
      poller.execute(this::grantLarge);
    }
  }

  Delivery delivery() {
    return delivery;
  }

  Spinning leaderSpinning() {
    return leaderSpinning;
  }

  /** The number of leaders: threads that poll a control ring for their response. */
  AtomicInteger leaders() {
    return leaders;
  }

  Collection<RemotePeer> remotes() {
    return peers.values();
  }

  Poller poller() {
    return poller;
  }

  long sendTimeoutNs() {
    return options.sendTimeout().toNanos();
  }

  String threadName(String part) {
    return "talaria-" + options.id() + "-" + part;
  }

  boolean closing() {
    return closed.get();
  }

  void mustBeOpen() throws MessagingException {
    if (closing()) {
      throw new MessagingException(MessagingException.Code.CLOSED, "node " + id() + " is closed");
    }
  }

  /** Asks for a connection to a peer. Any thread. */
  void want(RemotePeer peer) {
    conductor.want(peer);
  }

  /** Call this before a wait, and {@link #endWait} with the result after it. */
  boolean beginWait() {
    if (Handlers.isHandler()) {
      handlers.beginWait();
      return true;
    }
    return false;
  }

  void endWait(boolean handler) {
    if (handler) {
      handlers.endWait();
    }
  }

  boolean pollerSleeps() {
    return Poller.sleeps(poller.sleepNumber());
  }

  void wakePoller() {
    poller.wake();
  }

  void dropOnPoller(Connection connection, String reason) {
    poller.execute(() -> poller.drop(connection, reason));
  }

  /** Runs a task on a handler. */
  void later(Task task) {
    handlers.run(task);
  }

  /** Called periodically by the conductor. */
  void lookAfterTasks() {
    handlers.lookAfterTasks();
  }

  void at(long timeNs, Runnable task) {
    conductor.at(timeNs, task);
  }

  void growOnConductor(Connection connection, int priority) {
    conductor.execute(() -> connection.grow(priority));
  }

  void heardOnConductor(Connection connection, byte kind) {
    conductor.execute(() -> conductor.connections().heard(connection, kind));
  }

  /** Counts and reports a connection that the poller has closed. Poller only. */
  void removed(Connection connection, String reason, long unacknowledgedBytes) {
    RemotePeer peer = connection.peer;
    boolean orderly = connection.leaving || closing();
    if (!orderly) {
      counts.lost();
    }
    conductor.execute(() -> conductor.connections().ended(connection));
    if (!orderly) {
      for (NodeListener each : listeners) {
        tell(() -> each.lost(peer, reason, unacknowledgedBytes));
      }
    }
  }

  void connected(Connection connection) {
    counts.connected();
    for (NodeListener each : listeners) {
      tell(
          () ->
              each.connected(
                  connection.peer, connection.link().transport(), connection.link().reason()));
    }
  }

  void unreachable(RemotePeer peer, String reason) {
    for (NodeListener each : listeners) {
      tell(() -> each.unreachable(peer, reason));
    }
  }

  boolean looksAfterPeers() {
    return looksAfterPeers;
  }

  void stalled(RemotePeer peer, String type, String thread, long openNs) {
    counts.stalled();
    for (NodeListener each : listeners) {
      tell(() -> each.stalled(peer, type, thread, openNs));
    }
  }

  /** Logs the state of a silent connection: which threads sleep, and which were woken. */
  void quiet(Connection connection, long silentNs) {
    LOG.log(
        System.Logger.Level.INFO,
        () ->
            "node "
                + id()
                + " has heard nothing of "
                + connection.peer
                + " for "
                + silentNs / 1_000_000
                + " ms; "
                + connection.state());
  }

  void suspect(RemotePeer peer, long silentNs) {
    for (NodeListener each : listeners) {
      tell(() -> each.suspect(peer, silentNs));
    }
  }

  void dropped(RemotePeer peer, String type, String why) {
    counts.dropped();
    for (NodeListener each : listeners) {
      tell(() -> each.dropped(peer, type, why));
    }
  }

  /** Counts and reports what the program's code has thrown. Never throws. */
  void failedHere(RemotePeer peer, String type, Throwable thrown) {
    counts.failed();
    for (NodeListener each : listeners) {
      tell(() -> each.failed(peer, type, thrown));
    }
  }

  private void tell(Runnable news) {
    try {
      news.run();
    } catch (Throwable e) { // the program's: must not end this thread
      internal("a listener", e);
    }
  }

  /** Logs an unexpected throwable. Never throws. */
  void internal(String where, Throwable thrown) {
    if (closing()) {
      return;
    }
    try {
      LOG.log(
          System.Logger.Level.WARNING,
          "node " + id() + ", " + where + ": " + Thrown.text(thrown),
          thrown);
    } catch (Throwable e) { // by the throwable itself, by the program's logger, or no memory
      try {
        LOG.log(System.Logger.Level.WARNING, thrown.getClass().getName());
      } catch (Throwable again) {
        // Not even the class's name can be logged.
      }
    }
  }
}

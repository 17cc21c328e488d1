// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.transport.Log;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TalariaThread;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.Upgrade;
import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * UCX: on one host over its shared memory, when {@code talaria.transports} asks for it; between
 * hosts over all that it finds. {@code UCX_TLS} says which transports instead, if the user has set
 * it.
 */
final class UcxTransport implements TransportProvider {
  static final String NAME = "ucx";

  private static final String TRANSPORTS = "UCX_TLS";
  private static final String ONE_HOST = "posix,self";

  /** Engines for streams that no selector has; the two ends of a stream never share one. */
  private static final int POOLED =
      Math.max(1, Math.min(4, Runtime.getRuntime().availableProcessors() / 2));

  private static final long DRAIN_NS = 2_000_000_000L;
  private static final long DRAIN_LOOK_NS = 100_000L;

  /** Whether to take connections that UCX carries by TCP; for tests. */
  private static final String BY_TCP = "talaria.ucx.tcp";

  private final boolean hosts;
  private final boolean byTcp = Boolean.getBoolean(BY_TCP);
  private final Thread starter = TalariaThread.daemon("talaria-ucx-start", this::unavailable);
  private volatile boolean looked;
  private volatile String problem = "";
  private volatile ProgressThread progressThread;

  /** Null: there is none. */
  private final UcxBinding binding;

  private final Limits limits;

  /** Whether shared memory alone carries what is sent. */
  private final boolean intoMemory;

  /** How many ends of connections there are, until UCX is done with them. */
  private final AtomicInteger ends = new AtomicInteger();

  /** Guarded by this. */
  private final List<Engine> engines = new ArrayList<>();

  private final ArrayDeque<Engine> idle = new ArrayDeque<>();

  // Negotiation thread's.
  private final Engine[] connecting = new Engine[POOLED];
  private final Engine[] accepting = new Engine[POOLED];
  private int next;

  /**
   * @param hosts whether to reach other hosts, too
   */
  UcxTransport(boolean hosts) {
    this(hosts, Bindings::open);
  }

  /**
   * For tests, with a binding of theirs.
   *
   * @param opener gives the binding, or throws {@link BindingException}
   */
  UcxTransport(boolean hosts, Supplier<UcxBinding> opener) {
    this.hosts = hosts;
    intoMemory = !hosts && System.getenv(TRANSPORTS) == null;
    UcxBinding found = null;
    Limits known = null;
    try {
      known = Limits.ofProcess();
      found = opener.get();
    } catch (BindingException | IllegalArgumentException e) {
      problem = e.getMessage();
    }
    limits = known;
    binding = found;
  }

  /** How it reaches UCX; null if it cannot. Any thread. */
  UcxBinding binding() {
    return binding;
  }

  /** Begins to load UCX, which takes some hundred milliseconds, so that no thread waits for it. */
  void start() {
    try {
      starter.start();
    } catch (OutOfMemoryError e) {
      unavailable(); // no thread: then here
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public NioTransport kind() {
    return NioTransport.UCX;
  }

  @Override
  public boolean starting() {
    return !looked;
  }

  /** Any thread. */
  @Override
  public synchronized Reason unavailable() {
    if (!looked) {
      problem = look();
      looked = true;
    }
    return problem.isEmpty() ? null : Reason.NO_UCX;
  }

  /** Any thread. */
  @Override
  public String problem() {
    return problem;
  }

  private String look() {
    if (binding == null) {
      return problem;
    }
    if (!JdkNio.opensDescriptors()) {
      return "Without the agent it needs --add-opens java.base/sun.nio.ch=ALL-UNNAMED.";
    }
    try {
      String unavailableReason = binding.start(settings());
      if (!unavailableReason.isEmpty()) {
        return unavailableReason;
      }
      StreamTable.prepare();
      progressThread = new ProgressThread(binding);
      return "";
    } catch (IOException | RuntimeException | Error e) {
      return "UCX does not work here: " + (e.getMessage() == null ? e : e.getMessage());
    }
  }

  private Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("UCX_POSIX_ERROR_HANDLING", "y");
    if (hosts || System.getenv(TRANSPORTS) != null) {
      settings.put("UCX_WARN_UNUSED_ENV_VARS", "n"); // shared memory may be left out
    }
    if (!hosts) {
      settings.put(TRANSPORTS, ONE_HOST);
    }
    return settings;
  }

  @Override
  public boolean placesStreams() {
    return true;
  }

  @Override
  public ReadySet openReadySet() {
    if (binding == null) {
      return null;
    }
    try {
      return new UcxReadySet(this);
    } catch (IOException | IllegalStateException e) {
      Log.debug("no descriptor for a selector, its streams are made without: " + e.getMessage());
      return null;
    }
  }

  // ---- engines

  /** An engine on which nothing else makes streams. Negotiation thread. */
  Engine takeEngine() throws TransportException {
    Engine left = takeIdle();
    while (left != null && left.spent()) {
      left.retire();
      left = takeIdle();
    }
    if (left != null) {
      return left;
    }
    try {
      Engine made = new Engine(binding, progressThread, limits.streams());
      List<Engine> before;
      synchronized (this) {
        before = List.copyOf(engines);
        engines.add(made);
      }
      forgetClosed(before);
      progressThread.add(made);
      return made;
    } catch (BindingException e) {
      throw new TransportException(Reason.LIMIT, "no UCX worker: " + e.getMessage(), e);
    }
  }

  private synchronized Engine takeIdle() {
    return idle.poll();
  }

  private void forgetClosed(List<Engine> some) {
    for (Engine engine : some) {
      engine.enter();
      boolean closed;
      try {
        closed = engine.closed();
      } finally {
        engine.exit();
      }
      if (closed) {
        synchronized (this) {
          engines.remove(engine);
        }
      }
    }
  }

  /**
   * An engine whose selector no longer makes streams on it. Streams may still live on it. Any
   * thread.
   */
  void giveBack(Engine engine) {
    if (engine.spent()) {
      engine.retire();
    } else {
      synchronized (this) {
        idle.add(engine);
      }
    }
  }

  /** Whether what UCX is done with sending is in the receiver's memory. Any thread. */
  boolean sendsIntoMemory() {
    return intoMemory;
  }

  /** A stream is made. Any thread. */
  void endMade() {
    ends.incrementAndGet();
  }

  /** A stream is gone, and UCX is done with its endpoint. Any thread. */
  void endGone() {
    ends.decrementAndGet();
  }

  /** How many ends of connections there are, for tests. Any thread. */
  int ends() {
    return ends.get();
  }

  void stir() {
    progressThread.stir();
  }

  private Engine engine(ReadySet readySet, Engine[] pool) throws TransportException {
    Engine placed = readySet == null ? null : ((UcxReadySet) readySet).engine();
    if (placed != null) {
      return placed;
    }
    int index = next++ % pool.length;
    Engine before = pool[index];
    if (before == null || before.spent()) {
      pool[index] = takeEngine();
      if (before != null) {
        before.retire();
      }
    }
    return pool[index];
  }

  // ---- negotiation

  @Override
  public ByteBuffer openPeer(Peer peer) {
    peer.attach(newPeer(peer));
    return UcxMessages.peer();
  }

  @Override
  public void acceptPeer(Peer peer, ByteBuffer payload) throws TransportException {
    UcxMessages.checkPeer(payload);
    peer.attach(newPeer(peer));
  }

  private UcxPeer newPeer(Peer peer) {
    return new UcxPeer(peer, byTcp);
  }

  @Override
  public void peerAccepted(Peer peer) {
    // Nothing is shared but with streams.
  }

  @Override
  public Upgrade offer(Peer peer) throws TransportException {
    return offer(peer, null);
  }

  @Override
  public Upgrade offer(Peer peer, ReadySet readySet) throws TransportException {
    if (of(peer).byTcpOnly()) {
      throw new TransportException(Reason.UCX_TCP_ONLY, "nothing but tcp reaches this peer");
    }
    return new UcxUpgrade(newStream(peer, engine(readySet, connecting), false));
  }

  @Override
  public Upgrade answer(Peer peer, ByteBuffer payload) throws TransportException {
    return answer(peer, payload, null);
  }

  @Override
  public Upgrade answer(Peer peer, ByteBuffer payload, ReadySet readySet)
      throws TransportException {
    UcxMessages.Place place = UcxMessages.place(payload);
    UcxStream stream = newStream(peer, engine(readySet, accepting), true);
    stream.reaches(place);
    return new UcxUpgrade(stream);
  }

  private UcxStream newStream(Peer peer, Engine engine, boolean decides) throws TransportException {
    if (engine.address().length + Long.BYTES > MAX_PAYLOAD_BYTES) {
      throw new TransportException(
          Reason.LIMIT, "a UCX address of " + engine.address().length + " bytes: set UCX_TLS");
    }
    if (ends.get() >= limits.ends()) {
      String why =
          "the process has "
              + limits.ends()
              + " ends of connections by UCX, a quarter of vm.max_map_count unless "
              + Limits.ENDS
              + " says otherwise";
      of(peer).unreachable(why);
      throw new TransportException(Reason.LIMIT, why);
    }
    engine.enter();
    try {
      long token = engine.closed() ? 0 : engine.streams().newToken();
      if (token == 0) {
        throw new TransportException(Reason.LIMIT, "too many connections of one UCX worker");
      }
      return new UcxStream(this, of(peer), engine, token, decides);
    } finally {
      engine.exit();
    }
  }

  @Override
  public void received(Peer peer, ByteBuffer message) throws TransportException {
    of(peer).received(message);
  }

  @Override
  public void peerGone(Peer peer) {
    of(peer).ended();
    if (!peer.betweenHosts()) {
      progressThread.checkQueues();
    }
  }

  private static UcxPeer of(Peer peer) {
    return (UcxPeer) peer.attachment();
  }

  // ---- the end of the process

  @Override
  public void exit() {
    awaitStart(); // UCX's own clean-up at exit does not expect to be being loaded
    long start = System.nanoTime();
    while (!drained() && System.nanoTime() - start < DRAIN_NS) {
      LockSupport.parkNanos(DRAIN_LOOK_NS);
    }
  }

  private void awaitStart() {
    try {
      starter.join(DRAIN_NS / 1_000_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean drained() {
    List<Engine> all;
    synchronized (this) {
      all = List.copyOf(engines);
    }
    boolean drained = true;
    for (Engine engine : all) {
      engine.enter();
      try {
        drained &= engine.drained(hosts);
      } finally {
        engine.exit();
      }
    }
    return drained;
  }
}

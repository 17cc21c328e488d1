// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.ffi.Epoll;
import io.talaria.ffi.EventDescriptor;
import io.talaria.nio.authentication.KeyProof;
import io.talaria.verbs.Context;
import io.talaria.verbs.VerbsException;
import io.talaria.verbs.cm.ConnectionEvent;
import io.talaria.verbs.cm.ConnectionId;
import io.talaria.verbs.cm.ConnectionParameters;
import io.talaria.verbs.cm.EventChannel;
import io.talaria.verbs.cm.PortSpace;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Sets connections up by RDMA CM:
 *
 * <pre>{@code
 * connects                                         accepts
 *    |  -- request, HELLO: nonce ---------------->    |   with a key only
 *    |  <- rejected, CHALLENGE: nonce ------------    |
 *    |  -- request, OFFER: window, slice, proof -->   |   its queue pair is opened
 *    |  <- accepted, ANSWER: the same, proof -----    |
 *    |  -- first message, without data ----------->   |   its handler is told
 *    |     (rejected, REFUSAL: words, instead)        |
 * }</pre>
 *
 * <p>The identifier stays: its end is the peer's. One thread takes events and destroys identifiers;
 * handshakes have a virtual thread each. The first message says that the connecting side knows its
 * connection: RDMA CM tells the accepting side before that is so.
 */
final class CmConnector {
  private static final System.Logger LOG = NetThread.LOG;
  private static final int BACKLOG = 512;
  private static final int MAX_CHALLENGES = 64;
  private static final int REST_MS = 1000;
  private static final int MAX_RETRIES = 6; // soft-RoCE takes 7 as endless
  private static final int WAIT_FOR_EVER = 7;
  private static final long PAUSE_NS = 100_000_000;

  private final VerbsNode node;
  private final EventChannel channel;
  private final EventDescriptor doorbell;
  private final Epoll epoll;
  private final Thread thread;
  private final Map<ConnectionId, CmLine> lines = new ConcurrentHashMap<>();
  private final Map<ConnectionId, ConnectionHandler> listeners = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();

  /** By number, the oldest first. Guarded by itself. */
  private final LinkedHashMap<Integer, Challenge> challenges = new LinkedHashMap<>();

  private int nextChallenge;

  /** The node is being closed: it neither listens nor connects any more. Guarded by this. */
  private boolean shut;

  private volatile boolean stopping;

  /**
   * A challenge that was sent.
   *
   * @param hello what was asked
   * @param challenge what was told
   * @param endNs until when it holds
   */
  @SuppressWarnings("ArrayRecordComponent") // no code changes them
  private record Challenge(byte[] hello, byte[] challenge, long endNs) {}

  CmConnector(VerbsNode node) {
    this.node = node;
    EventDescriptor bell = null;
    Epoll sleeper = null;
    channel = EventChannel.open();
    try {
      bell = new EventDescriptor();
      sleeper = new Epoll();
      sleeper.add(channel.descriptor());
      sleeper.add(bell.descriptor());
    } catch (RuntimeException | Error e) {
      if (sleeper != null) {
        sleeper.close();
      }
      if (bell != null) {
        bell.close();
      }
      channel.close();
      throw e;
    }
    doorbell = bell;
    epoll = sleeper;
    thread = Thread.ofPlatform().daemon().name("talaria-verbs-cm").unstarted(this::run);
  }

  /**
   * The context that RDMA CM has of a device.
   *
   * @throws NoSuchElementException if there is no such device
   */
  static Context context(String device) {
    for (Context context : EventChannel.contexts()) {
      if (device.isEmpty() || context.name().equals(device + " of RDMA CM")) {
        return context;
      }
    }
    throw new NoSuchElementException(
        "RDMA CM knows no device " + device + "; it knows " + EventChannel.contexts());
  }

  void start(Consumer<Thread> starter) {
    starter.accept(thread);
  }

  // ---- the thread that takes events

  private void run() {
    while (!stopping || !tasks.isEmpty()) {
      try {
        doorbell.clear();
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
          task.run();
        }
        for (Optional<ConnectionEvent> event = channel.take();
            event.isPresent();
            event = channel.take()) {
          told(event.orElseThrow());
        }
        if (!stopping && tasks.isEmpty()) {
          boolean ignored = epoll.await(REST_MS);
        }
      } catch (RuntimeException | Error e) {
        // The thread must stay: no identifier is destroyed without it.
        LOG.log(Level.WARNING, "RDMA CM: unexpected exception; continuing", e);
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  private void told(ConnectionEvent event) {
    if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
      asked(event);
    } else if (event.type() == ConnectionEvent.Type.DEVICE_REMOVAL) {
      node.lost("RDMA CM says that the device is removed");
    } else if (event.type() != ConnectionEvent.Type.TIME_WAIT_OVER
        && event.type() != ConnectionEvent.Type.ADDRESS_CHANGE) {
      CmLine line = lines.get(event.id());
      if (line != null) {
        line.told(event);
      }
    }
  }

  private void later(Runnable task) {
    tasks.add(task);
    doorbell.signal();
  }

  /** Destroys an identifier that has no queue pair any more. */
  void close(CmLine line) {
    later(() -> closeNow(line));
  }

  private void closeNow(CmLine line) {
    try {
      line.id.close();
    } catch (VerbsException e) {
      LOG.log(Level.DEBUG, "closing an identifier of RDMA CM", e);
    } finally {
      lines.remove(line.id);
    }
  }

  /**
   * Gives up a handshake. By the thread that takes events, because librdmacm changes the queue pair
   * while it takes the answer of a peer.
   */
  private void abandon(CmLine line, VerbsNode.Setup setup) {
    later(
        () -> {
          if (setup != null) {
            node.abandon(setup);
          }
          closeNow(line);
        });
  }

  // ---- who listens

  /** Under the lock, so that {@link #shut} finds what it has made. */
  synchronized InetSocketAddress listen(InetSocketAddress address, ConnectionHandler handler)
      throws IOException {
    if (shut) {
      throw new IllegalStateException("the node is closed");
    }
    ConnectionId id = channel.create(PortSpace.TCP);
    try {
      id.bind(address);
      listeners.put(id, handler);
      id.listen(BACKLOG);
      return id.localAddress().orElseThrow();
    } catch (VerbsException e) {
      listeners.remove(id);
      later(id::close);
      throw new IOException("RDMA CM cannot listen at " + address + ": " + e.getMessage(), e);
    }
  }

  private void asked(ConnectionEvent event) {
    CmLine line = new CmLine(this, event.id());
    lines.put(event.id(), line);
    ConnectionHandler handler = listeners.get(event.listener());
    if (handler == null || !node.mayAccept()) {
      node.refused();
      refuse(line, "the node is closed, or has too many handshakes under way");
      abandon(line, null);
      return;
    }
    Thread handshake =
        Thread.ofVirtual()
            .name("talaria-verbs-handshake")
            .unstarted(
                () -> {
                  try {
                    accept(line, event, handler);
                  } finally {
                    node.handshakeOver();
                  }
                });
    handshake.start();
  }

  private static void refuse(CmLine line, String why) {
    try {
      line.id.reject(CmFrame.refusal(why));
    } catch (VerbsException e) {
      // The peer is gone already.
      LOG.log(Level.DEBUG, "rejecting by RDMA CM", e);
    }
  }

  private void accept(CmLine line, ConnectionEvent event, ConnectionHandler handler) {
    VerbsNode.Setup setup = null;
    Connection connection = null;
    try {
      long endNs = endNs();
      byte[] data = event.privateData();
      byte type = CmFrame.type(data);
      if (type == CmFrame.HELLO) {
        line.id.reject(challenge(data));
        abandon(line, null);
        return;
      }
      if (type != CmFrame.OFFER) {
        throw new ExchangeException("a frame of type " + type + " where an offer was to come");
      }
      if (!line.id.context().equals(Optional.of(node.context))) {
        throw new ExchangeException("the address is of another device than the node's");
      }
      Offer peer = CmFrame.offer(data, keyed(), event.queuePairNumber(), peerAddress(line));
      Challenge challenge = keyed() ? proved(line, data, event.queuePairNumber()) : null;
      setup = node.setUp(line.id::open);
      byte[] answer = answer(line, setup, data, challenge);
      CompletableFuture<Void> greeting = new CompletableFuture<>();
      int readsIn = Math.min(node.reads(), event.readsIn());
      int readsOut = Math.min(node.readsOut(), event.readsOut());
      connection = node.connection(setup, peer, line, handler, greeting);
      setup = null; // it is the connection's
      node.join(
          connection,
          () ->
              line.id.accept(
                  new ConnectionParameters(answer, readsIn, readsOut, MAX_RETRIES, WAIT_FOR_EVER)));
      line.attach(connection);
      ConnectionEvent ignored = line.await(ConnectionEvent.Type.ESTABLISHED, endNs);
      greeted(greeting, endNs);
    } catch (IOException | RuntimeException | Error e) {
      // An error, such as of a class that is missing, must leave nothing behind either.
      node.refused();
      LOG.log(e instanceof Error ? Level.WARNING : Level.DEBUG, "a handshake failed", e);
      if (connection != null) {
        connection.close(VerbsNode.handshakeFailed(e), false);
      } else {
        refuse(line, String.valueOf(e.getMessage()));
        abandon(line, setup);
      }
    }
  }

  private void greeted(CompletableFuture<Void> greeting, long endNs) throws ExchangeException {
    try {
      Void ignored = greeting.get(endNs - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new ExchangeException(tooLate(), e);
    } catch (ExecutionException e) {
      throw new ExchangeException("the peer has gone before it said anything", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ExchangeException("interrupted", e);
    }
  }

  private byte[] challenge(byte[] data) throws ExchangeException {
    if (!keyed()) {
      return CmFrame.refusal(Exchange.ONLY_THERE);
    }
    byte[] hello = CmFrame.nonceFrame(data);
    synchronized (challenges) {
      int number = nextChallenge++ & 0xffff;
      byte[] frame = CmFrame.nonceFrame(CmFrame.CHALLENGE, number, KeyProof.nonce());
      while (challenges.size() >= MAX_CHALLENGES) {
        challenges.pollFirstEntry();
      }
      challenges.put(number, new Challenge(hello, frame, endNs()));
      return frame;
    }
  }

  /** The challenge that an offer answers, if its proof is right; it is used up. */
  private Challenge proved(CmLine line, byte[] data, int queuePair) throws ExchangeException {
    Challenge challenge;
    synchronized (challenges) {
      challenge = challenges.remove(CmFrame.number(data));
    }
    if (challenge == null || challenge.endNs() - System.nanoTime() < 0) {
      throw new ExchangeException("the offer answers no challenge, or an old one");
    }
    byte[] offer = Arrays.copyOf(data, CmFrame.OFFER_BYTES);
    CmFrame.requireProof(
        data,
        CmFrame.keyProof(key(), challenge.hello(), challenge.challenge()),
        true,
        CmFrame.context(
            queuePair, ends(line, false), challenge.hello(), challenge.challenge(), offer));
    return challenge;
  }

  private byte[] answer(CmLine line, VerbsNode.Setup setup, byte[] data, Challenge challenge)
      throws ExchangeException {
    byte[] answer = CmFrame.offer(CmFrame.ANSWER, CmFrame.number(data), node.offer(setup), keyed());
    if (challenge == null) {
      return answer;
    }
    byte[] offer = Arrays.copyOf(data, CmFrame.OFFER_BYTES + KeyProof.PROOF_BYTES);
    byte[] context =
        CmFrame.context(
            setup.queuePair().number(),
            ends(line, false),
            challenge.hello(),
            challenge.challenge(),
            offer,
            answer);
    KeyProof proof = CmFrame.keyProof(key(), challenge.hello(), challenge.challenge());
    return CmFrame.with(answer, proof.proof(false, context));
  }

  /** The addresses of the connection, as this side sees them: the caller's first. */
  private static byte[] ends(CmLine line, boolean caller) throws ExchangeException {
    InetAddress own =
        line.id
            .localAddress()
            .orElseThrow(() -> new ExchangeException("this side has no address"))
            .getAddress();
    InetAddress peer = peerAddress(line);
    return caller ? CmFrame.ends(own, peer) : CmFrame.ends(peer, own);
  }

  // ---- who connects

  Connection connect(InetSocketAddress address, ConnectionHandler handler) throws IOException {
    long endNs = endNs();
    try {
      if (!keyed()) {
        return connect(address, handler, null, null, endNs);
      }
      byte[] hello = CmFrame.nonceFrame(CmFrame.HELLO, 0, KeyProof.nonce());
      return connect(address, handler, hello, challenged(address, hello, endNs), endNs);
    } catch (VerbsException e) {
      throw new IOException("RDMA CM cannot connect to " + address + ": " + e.getMessage(), e);
    }
  }

  /** A new identifier. Under the lock, so that {@link #shut} finds it. */
  private synchronized CmLine create() throws ExchangeException {
    if (shut) {
      throw new ExchangeException("the node is closed");
    }
    ConnectionId id = channel.create(PortSpace.TCP);
    CmLine line = new CmLine(this, id);
    lines.put(id, line);
    return line;
  }

  /** An identifier that knows its device and route. */
  private CmLine resolved(InetSocketAddress address, long endNs) throws IOException {
    CmLine line = create();
    ConnectionId id = line.id;
    try {
      int limitMs = node.options.handshakeMs();
      id.resolveAddress(null, address, limitMs);
      ConnectionEvent ignored = line.await(ConnectionEvent.Type.ADDRESS_RESOLVED, endNs);
      id.resolveRoute(limitMs);
      ignored = line.await(ConnectionEvent.Type.ROUTE_RESOLVED, endNs);
      return line;
    } catch (IOException | RuntimeException | Error e) {
      abandon(line, null);
      throw e;
    }
  }

  private byte[] challenged(InetSocketAddress address, byte[] hello, long endNs)
      throws IOException {
    CmLine line = resolved(address, endNs);
    try {
      line.id.connect(ConnectionParameters.with(hello));
      ConnectionEvent no = line.await(ConnectionEvent.Type.REJECTED, endNs);
      byte[] data = no.privateData();
      if (data.length < 4 || CmFrame.type(data) != CmFrame.CHALLENGE) {
        throw new ExchangeException(CmLine.explained(no));
      }
      return CmFrame.nonceFrame(data);
    } finally {
      abandon(line, null);
    }
  }

  private Connection connect(
      InetSocketAddress address,
      ConnectionHandler handler,
      byte[] hello,
      byte[] challenge,
      long endNs)
      throws IOException {
    CmLine line = resolved(address, endNs);
    VerbsNode.Setup setup = null;
    Connection connection;
    try {
      if (!line.id.context().equals(Optional.of(node.context))) {
        throw new ExchangeException("the address is reached by another device than the node's");
      }
      setup = node.setUp(line.id::open);
      int number = challenge == null ? 0 : CmFrame.number(challenge);
      byte[] offer = CmFrame.offer(CmFrame.OFFER, number, node.offer(setup), keyed());
      if (challenge != null) {
        byte[] context =
            CmFrame.context(setup.queuePair().number(), ends(line, true), hello, challenge, offer);
        KeyProof proof = CmFrame.keyProof(key(), hello, challenge);
        offer = CmFrame.with(offer, proof.proof(true, context));
      }
      line.id.connect(
          new ConnectionParameters(
              offer, node.reads(), node.readsOut(), MAX_RETRIES, WAIT_FOR_EVER));
      ConnectionEvent made = line.await(ConnectionEvent.Type.ESTABLISHED, endNs);
      Offer peer = answered(line, made, hello, challenge, offer, address.getAddress());
      connection = node.connection(setup, peer, line, handler, null);
    } catch (IOException | RuntimeException | Error e) {
      abandon(line, setup);
      throw e;
    }
    node.join(connection, () -> {});
    line.attach(connection);
    connection.greet();
    connection.announce();
    return connection;
  }

  private Offer answered(
      CmLine line,
      ConnectionEvent made,
      byte[] hello,
      byte[] challenge,
      byte[] offer,
      InetAddress address)
      throws ExchangeException {
    byte[] data = made.privateData();
    byte type = CmFrame.type(data);
    if (type != CmFrame.ANSWER) {
      throw new ExchangeException("a frame of type " + type + " where an answer was to come");
    }
    Offer peer = CmFrame.offer(data, keyed(), made.queuePairNumber(), address);
    if (challenge != null) {
      byte[] answer = Arrays.copyOf(data, CmFrame.OFFER_BYTES);
      CmFrame.requireProof(
          data,
          CmFrame.keyProof(key(), hello, challenge),
          false,
          CmFrame.context(
              made.queuePairNumber(), ends(line, true), hello, challenge, offer, answer));
    }
    return peer;
  }

  private static InetAddress peerAddress(CmLine line) throws ExchangeException {
    return line.id
        .peerAddress()
        .orElseThrow(() -> new ExchangeException("the peer has no address"))
        .getAddress();
  }

  private boolean keyed() {
    return node.options.key().isPresent();
  }

  private byte[] key() {
    return node.options.key().orElseThrow();
  }

  private long endNs() {
    return System.nanoTime() + node.options.handshakeMs() * 1_000_000L;
  }

  String tooLate() {
    return "the peer has not finished the handshake within " + node.options.handshakeMs() + " ms";
  }

  // ---- closing

  /** Stops accepting connections and connecting; handshakes that are under way fail. */
  synchronized void shut() {
    shut = true;
    for (ConnectionId listener : List.copyOf(listeners.keySet())) {
      listeners.remove(listener);
      later(listener::close);
    }
    for (CmLine line : lines.values()) {
      if (!line.isAttached()) {
        line.told(CmLine.END);
      }
    }
  }

  /** Whether nothing is left. */
  boolean isIdle() {
    return lines.isEmpty() && tasks.isEmpty();
  }

  /** Ends the thread; nothing may be left. */
  void close() {
    stopping = true;
    doorbell.signal();
    VerbsNode.join(thread);
    channel.close();
    epoll.close();
    doorbell.close();
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.ffi.Epoll;
import io.talaria.ffi.Libc;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.transport.RingPair;
import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.Worker;
import io.talaria.ucx.WorkerAddress;
import io.talaria.ucx.transport.ClosingEndpoints;
import io.talaria.ucx.transport.FailureCheck;
import io.talaria.ucx.transport.OwnedWorker;
import io.talaria.ucx.transport.SendsInFlight;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Owns a node's UCX worker, and knows the processes that it reaches.
 *
 * <p><b>Turns.</b> One thread at a time holds the worker, only as long as it takes to make
 * progress, to receive what has arrived and to send what may be sent: the poller in each of its
 * turns, a thread that waits for its response, or a sender. If the worker is busy, a thread sets
 * {@link #again}; the holder checks {@link #again} after releasing the worker.
 *
 * <p><b>Sleeping.</b> UCX's descriptor becomes readable for events after it was armed, and stays
 * readable until it is armed again.
 *
 * <ol>
 *   <li>Only the poller arms, in {@link #arm}: as the last step before it sleeps, while it holds
 *       the worker, and after a round of progress that has brought nothing. So earlier events were
 *       received, and later ones are signalled.
 *   <li>UCX refuses to arm while something has arrived, or while it cannot deliver what it has.
 *       Then there is another round. After {@link #ARM_TRIES} of them the poller sleeps unarmed,
 *       and polls each millisecond until UCX agrees.
 *   <li>The thread {@code talaria-ID-ucx} sleeps on the descriptor while {@link #armed}, which the
 *       poller sets after arming. That thread clears it before it wakes the poller, and the poller
 *       sets it again before its next sleep. So each signal wakes the poller, and only once.
 *   <li>Threads that wait for responses make progress while the poller sleeps, and may receive what
 *       was signalled. Then the poller wakes up for nothing. What they receive for other threads
 *       they leave in the mirrors, and wake the poller ({@link #wake}) after releasing the worker.
 *   <li>Senders make no progress. If UCX does not complete a send at once, the sender wakes the
 *       poller, which polls each millisecond while any send or close is under way ({@link
 *       #pollsEachMs}), because no event signals its completion.
 *   <li>UCX needs some more rounds to release an endpoint that was closed by force, and no event
 *       signals that either: {@link ClosingEndpoints}.
 *   <li>In UCX's shared memory a sender clears the mark of the sleeping receiver, writes, and
 *       signals last. If it is killed or stopped before it signals, later senders see no mark. So
 *       the poller polls twice a second while there are connections; UCX itself does so every 20
 *       seconds.
 * </ol>
 */
public final class UcxTransport implements NetworkTransport {
  /** The system property that permits UCX's own TCP; for tests. */
  private static final String BY_TCP = "talaria.ucx.tcp";

  /** How often the poller polls for completions, which no event signals. */
  private static final int POLL_MS = 1;

  /**
   * How often the poller polls while there are connections, in case a sender was killed before it
   * signalled.
   */
  private static final int LOOK_MS = 500;

  /**
   * How often UCX is asked to arm before the poller sleeps unarmed. UCX refuses while it cannot
   * deliver what it has, which may last as long as the receiving process is stopped, or for ever.
   */
  private static final int ARM_TRIES = 16;

  private static final int MAX_READY = 64;
  private static final int MAX_ROUNDS = 32;
  private static final int MAX_LOOKS = 1 << 10;
  private static final int SPINS = 1 << 10;
  private static final long CLOSE_NS = 200_000_000;
  private static final long JOIN_MS = 1000;

  /** UCX numbers the endpoints between two workers with 16 bits; this leaves a margin. */
  private static final int MAX_MADE = 60_000;

  /**
   * The maximum difference between the two nodes' counts of endpoints; failed handshakes cause it.
   */
  private static final int MAX_BEHIND = 64;

  /** A channel that has received nothing for so long does not work. */
  private static final long DUMB_NS = 5_000_000_000L;

  /** What this node knows of one process of another node. */
  private static final class Known {
    final int id;
    long incarnation;

    /** Number of endpoints made for its worker; see {@link UcxLayout}. */
    int made;

    UcxChannel channel;

    /** The token with which the stream of its next fresh endpoint must begin. */
    long token;

    /** Why UCX must not be used with it, or null. */
    String obstacle;

    Known(int id) {
      this.id = id;
    }

    boolean isOpen() {
      return channel != null && channel.isOpen();
    }
  }

  private final OwnedWorker owned;
  private final Worker worker;
  private final byte[] address;
  private final Epoll epoll;
  private final Thread watcher;
  private final SecureRandom random = new SecureRandom();
  private Runnable wakePoller = () -> {};
  private int lookMs;

  // Only for the holder of the worker.
  private final Map<Integer, Known> known = new HashMap<>();
  private final List<UcxChannel> channels = new ArrayList<>();
  private final ClosingEndpoints closing;
  private final FailureCheck failures;
  private final Endpoint[] ready = new Endpoint[MAX_READY];
  private boolean came;
  private boolean wake;
  private UcxLink leader;

  /** Replaced by the holder of the worker. */
  private volatile UcxLink[] links = {};

  /** Sends or closings are under way, whose completion no event signals. */
  private volatile boolean pollsEachMs;

  /** UCX has refused to arm. Only for the poller. */
  private boolean refuses;

  /** A link needs a push. A thread sets the link's own flag first, then this one. */
  private volatile boolean again;

  /** The poller waits for the worker. */
  private volatile boolean pollerWaits;

  /** The poller sleeps or is about to: the watcher must wake it. */
  private volatile boolean armed;

  private volatile boolean closed;

  private UcxTransport(OwnedWorker owned, String thread) {
    this.owned = owned;
    worker = owned.worker();
    address = owned.address().toBytes();
    closing = new ClosingEndpoints(worker);
    failures = new FailureCheck(worker, (channel, reason) -> ((UcxChannel) channel).end(reason));
    watcher = new Thread(null, this::watch, thread, 0, false);
    watcher.setDaemon(true);
    epoll = watching(owned.eventDescriptor()); // last, because no code would close it after that
  }

  /**
   * Creates a set with a worker's event in it.
   *
   * @return the set, which the caller must close; if this method throws, it has closed everything
   */
  static Epoll watching(int eventDescriptor) {
    Epoll epoll = new Epoll();
    try {
      epoll.add(eventDescriptor);
    } catch (RuntimeException | Error e) {
      epoll.close();
      throw e;
    }
    return epoll;
  }

  /**
   * Loads UCX and opens a worker. Takes some hundred milliseconds, some megabytes and descriptors.
   *
   * @param thread the name of the thread that it starts
   * @param connections the expected number of connections
   * @return the transport, which the caller must close
   * @throws IOException if that is not possible; the message says what to do
   */
  public static NetworkTransport open(String thread, int connections) throws IOException {
    // UCX's own TCP does not use the key and is no faster than transport tcp.
    boolean leaveOutTcp = !Boolean.getBoolean(BY_TCP) && Libc.getenv("UCX_TLS").isEmpty();
    OwnedWorker owned =
        OwnedWorker.open(
            Context.Options.of(Feature.STREAM, Feature.WAKEUP).estimatedEndpoints(connections),
            leaveOutTcp ? Map.of("TLS", "^tcp") : Map.of());
    try {
      return new UcxTransport(owned, thread);
    } catch (IllegalStateException e) { // no descriptor is free
      owned.close();
      throw OwnedWorker.unusable(e);
    }
  }

  @Override
  public void begin(Runnable wake, boolean looks) {
    wakePoller = wake;
    lookMs = looks ? LOOK_MS : 0;
    watcher.start();
  }

  private void watch() {
    while (!closed) {
      if (!armed) {
        LockSupport.park();
        continue;
      }
      if (epoll.await(-1)) { // false if the process was stopped and has continued
        armed = false;
        wakePoller.run();
      }
    }
  }

  // ---- turns

  /** Becomes the holder of the worker; false if another thread is. Any thread. */
  boolean enter() {
    try {
      return !closed && worker.tryEnter();
    } catch (IllegalStateException e) {
      return false; // closed meanwhile
    }
  }

  /** Releases the worker, and does what other threads have asked for meanwhile. */
  void exit() {
    leave();
    VarHandle.fullFence();
    if (again) {
      serve();
    }
  }

  private void leave() {
    boolean pollerIsMeant = wake;
    wake = false;
    worker.exit();
    if (pollerIsMeant) {
      wakePoller.run();
    }
  }

  /** Becomes the holder of the worker, and waits for it, which takes moments; false if closed. */
  private boolean enterWaiting() {
    pollerWaits = true; // keeps threads that wait for responses away
    try {
      for (int i = 0; i < SPINS; i++) {
        if (enter()) {
          return true;
        }
        Thread.onSpinWait();
      }
      if (!closed) {
        worker.enter();
        return true;
      }
    } catch (IllegalStateException e) {
      // Closed meanwhile.
    } finally {
      pollerWaits = false;
    }
    return false;
  }

  /**
   * Makes progress and receives what has arrived; whether anything has, or sends were completed.
   */
  private boolean work() {
    came = false;
    worker.progress();
    int count;
    do {
      count = worker.pollStreams(ready);
      for (int i = 0; i < count; i++) {
        UcxChannel channel = (UcxChannel) ready[i].attachment();
        ready[i] = null;
        channel.receive();
      }
    } while (count == MAX_READY);
    if (pollsEachMs) {
      reap();
    }
    failures.round();
    return came;
  }

  private void reap() {
    boolean still = false;
    for (int i = 0; i < channels.size(); i++) {
      UcxChannel channel = channels.get(i);
      if (channel.inFlight()) {
        came |= channel.reap();
        still |= channel.inFlight();
      }
    }
    pollsEachMs = closing.poll() || still;
  }

  @Override
  public boolean bring() {
    if (!enter()) {
      return false; // the holder receives it
    }
    try {
      return work();
    } finally {
      wake = false; // the poller is this thread
      exit();
    }
  }

  /** Like {@link #bring()}, but waits for the worker. Poller. */
  boolean bringEntering() {
    if (!enterWaiting()) {
      return false;
    }
    try {
      return work();
    } finally {
      wake = false;
      exit();
    }
  }

  /** Like {@link #bring()}, for a thread that waits for a response on a connection. */
  void bring(UcxLink by) {
    if (pollerWaits || !enter()) {
      return;
    }
    leader = by;
    try {
      work();
    } finally {
      leader = null;
      exit();
    }
  }

  @Override
  public boolean send() {
    UcxLink[] all = links;
    if (all.length == 0) {
      return false;
    }
    for (UcxLink each : all) {
      each.again = true;
    }
    again = true;
    return serve();
  }

  /** Sends a connection's records, on this thread or on the holder of the worker. Any thread. */
  boolean push(UcxLink link) {
    link.again = true;
    again = true;
    return serve();
  }

  private boolean serve() {
    boolean done = false;
    for (int i = 0; again && enter(); i++) {
      try {
        again = false;
        for (UcxLink each : links) {
          if (each.again) {
            each.again = false;
            done |= each.pushEntered();
          }
        }
      } finally {
        leave();
      }
      VarHandle.fullFence();
      if (i == MAX_ROUNDS) {
        wakePoller.run(); // the poller continues, so that this thread returns
        break;
      }
    }
    return done;
  }

  @Override
  public boolean arm() {
    if (!enterWaiting()) {
      return true; // closed
    }
    try {
      failures.now();
      refuses = false;
      for (int i = 0; !tryArm(); i++) {
        if (wake || came || again) {
          wake = false;
          return false;
        }
        if (i == ARM_TRIES) {
          refuses = true;
          return true;
        }
      }
      armed = true;
    } finally {
      exit();
    }
    LockSupport.unpark(watcher);
    return true;
  }

  /** Receives what has arrived, and arms if nothing has. */
  private boolean tryArm() {
    return !work() && !wake && !again && worker.arm();
  }

  @Override
  public int maxSleepMs() {
    return pollsEachMs || refuses ? POLL_MS : links.length == 0 ? 0 : lookMs;
  }

  // ---- for channels and links that hold the worker

  /** A connection has something to send. */
  void wants(UcxLink link) {
    link.again = true;
    again = true;
    came = true;
  }

  /** Records of a priority have arrived for a connection. */
  void brought(UcxLink link, int priority) {
    came = true;
    if (link != leader || priority == RingPair.DATA) {
      wake = true;
    }
  }

  /** UCX has not completed a send: makes the poller check for its completion. */
  void posted() {
    if (!pollsEachMs) {
      pollsEachMs = true;
      wake = true;
    }
  }

  SendsInFlight newSends(int max) {
    return new SendsInFlight(worker, max, max);
  }

  /** An endpoint was closed. */
  void closed(UcxChannel channel, long request) {
    channels.remove(channel);
    closing.add(request, channel::stillInFlight);
    posted();
  }

  /** Removes a connection that has ended and that no thread uses. Conductor. */
  void left(UcxLink link) {
    if (!enterWaiting()) {
      return;
    }
    try {
      links = Arrays.stream(links).filter(each -> each != link).toArray(UcxLink[]::new);
      UcxChannel channel = link.channel();
      if (channel.end(link) && !link.endedInOrder()) {
        // What still arrives on this channel is useless, whatever process is at the other end.
        if (!channel.heard() && link.ageNs() > DUMB_NS) {
          for (Known each : known.values()) {
            if (each.channel == channel) {
              each.obstacle = "nothing came by UCX";
            }
          }
        }
        channel.close();
      }
    } finally {
      exit();
    }
  }

  // ---- handshakes; conductor

  private Known known(int id) {
    return known.computeIfAbsent(id, Known::new);
  }

  private void mustEnter() throws IOException {
    if (!enterWaiting()) {
      throw new IOException("the node is closed");
    }
  }

  @Override
  public byte[] offer(int id) {
    if (!enterWaiting()) {
      return new byte[0];
    }
    try {
      Known about = known(id);
      if (about.obstacle != null) {
        return new byte[0];
      }
      about.token = random.nextLong();
      ByteBuffer to = little(UcxLayout.OFFER_BYTES + address.length);
      to.putLong(about.incarnation).putInt(about.made);
      to.put((byte) (about.isOpen() ? 1 : 0)).position(UcxLayout.OFFER_BYTES - Long.BYTES);
      return bytes(to.putLong(about.token).put(address));
    } finally {
      exit();
    }
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] bytes(ByteBuffer full) {
    byte[] bytes = new byte[full.flip().remaining()];
    full.get(bytes);
    return bytes;
  }

  private static ByteBuffer checked(byte[] bytes, int least) throws ProtocolException {
    if (bytes.length <= least) {
      throw new ProtocolException(bytes.length + " bytes about UCX");
    }
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public byte[] accept(int id, long incarnation, long own, byte[] offer) throws IOException {
    if (offer.length == 0) {
      throw new IOException("it does not want to");
    }
    ByteBuffer from = checked(offer, UcxLayout.OFFER_BYTES);
    boolean aboutUs = from.getLong() == own;
    int madeThere = from.getInt();
    int openThere = from.get();
    long tokenOut = from.position(UcxLayout.OFFER_BYTES - Long.BYTES).getLong();
    mustEnter();
    try {
      Known peer = of(id, incarnation);
      if (peer.obstacle != null) {
        throw new IOException(peer.obstacle);
      }
      int made = aboutUs ? madeThere : 0;
      boolean reuse = aboutUs && openThere == 1 && peer.isOpen() && made == peer.made;
      ByteBuffer to = little(UcxLayout.ANSWER_BYTES + address.length);
      if (reuse) {
        to.putInt(peer.made).putInt(0).putLong(0);
      } else {
        long tokenIn = random.nextLong();
        int before = Math.max(made, peer.made);
        open(peer, before, address(from), tokenIn, tokenOut);
        to.putInt(before).putInt(1).putLong(tokenIn);
      }
      return bytes(to.put(address));
    } finally {
      exit();
    }
  }

  @Override
  public void accepted(int id, long incarnation, byte[] answer) throws IOException {
    ByteBuffer from = checked(answer, UcxLayout.ANSWER_BYTES);
    int made = from.getInt();
    boolean fresh = from.getInt() == 1;
    long tokenOut = from.getLong();
    mustEnter();
    try {
      Known peer = of(id, incarnation);
      if (fresh) {
        open(peer, made, address(from), peer.token, tokenOut);
      } else if (!peer.isOpen() || made != peer.made) {
        throw new IOException("the endpoint to continue with does not exist");
      }
    } finally {
      exit();
    }
  }

  /** Returns what is known of a process. Forgets an earlier process with the same id. */
  private Known of(int id, long incarnation) {
    Known peer = known(id);
    if (peer.incarnation != incarnation) {
      if (peer.isOpen()) {
        peer.channel.end("another process has its id");
      }
      peer.channel = null;
      peer.incarnation = incarnation;
      peer.made = 0;
      peer.obstacle = null;
    }
    return peer;
  }

  private static WorkerAddress address(ByteBuffer from) throws ProtocolException {
    byte[] bytes = new byte[from.remaining()];
    from.get(bytes);
    try {
      return WorkerAddress.of(bytes);
    } catch (IllegalArgumentException e) {
      throw new ProtocolException(e.getMessage());
    }
  }

  /**
   * Makes an endpoint.
   *
   * @param before how many endpoints both sides count before it; missing ones are made and closed
   */
  private void open(Known peer, int before, WorkerAddress to, long tokenIn, long tokenOut)
      throws IOException {
    if (before < peer.made || before - peer.made > MAX_BEHIND) {
      throw new IOException(
          "the other side has made " + before + " endpoints, this one " + peer.made);
    }
    if (before >= MAX_MADE) {
      throw new IOException(before + " endpoints were made: UCX has no numbers for more");
    }
    if (peer.isOpen()) {
      peer.channel.end("the other side has lost the connection, and made a new one");
    }
    String name = "node " + peer.id;
    Endpoint.Options options = Endpoint.Options.to(to).name(name);
    try {
      while (peer.made < before) {
        Endpoint unpaired = worker.connect(options); // the other end's part was never made
        peer.made++;
        closing.add(unpaired.closeForced());
        posted();
      }
      Endpoint endpoint = worker.connect(options);
      peer.made++;
      UcxChannel channel = new UcxChannel(this, name, endpoint, tokenIn, tokenOut);
      if (!channel.isOpen()) {
        throw new IOException("its channel by UCX has failed");
      }
      peer.channel = channel;
      channels.add(channel);
    } catch (UcxException e) {
      peer.obstacle = "UCX finds no channel to it: " + e.getMessage();
      throw new IOException(peer.obstacle, e);
    }
  }

  @Override
  public Link link(
      LinkOwner owner, int id, int number, SocketChannel session, String why, int[] capacity)
      throws IOException {
    mustEnter();
    try {
      Known peer = known(id);
      if (!peer.isOpen()) {
        throw new IOException("its channel by UCX has failed");
      }
      String how = why + ", by " + peer.channel.transports();
      UcxLink link = new UcxLink(this, peer.channel, owner, number, session, how, capacity);
      links = Arrays.copyOf(links, links.length + 1);
      links[links.length - 1] = link;
      peer.channel.begin(link);
      return link;
    } finally {
      exit();
    }
  }

  /** For people. Reads the fields without ordering, so they may be inconsistent. */
  @Override
  public String toString() {
    return "worker: "
        + (armed ? "armed" : "not armed")
        + (closed
            ? ", closed"
            : Libc.awaitReadable(owned.eventDescriptor(), 0) ? ", event" : ", no event")
        + (pollsEachMs ? ", polls each ms" : "")
        + (refuses ? ", refuses" : "")
        + (again ? ", again" : "")
        + (pollerWaits ? ", the poller waits" : "")
        + ", "
        + links.length
        + " connections";
  }

  // ---- the end

  @Override
  public void close() {
    if (closed) {
      return;
    }
    worker.enter();
    try {
      sayGone();
    } finally {
      worker.exit();
    }
    closed = true;
    LockSupport.unpark(watcher);
    worker.signal();
    try {
      watcher.join(JOIN_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    owned.close();
    if (!watcher.isAlive()) {
      epoll.close();
    }
  }

  /** Tells the other processes to close their endpoints, and gives sends a moment to complete. */
  private void sayGone() {
    for (UcxChannel channel : List.copyOf(channels)) {
      if (channel.hasRoom()) {
        channel.sendGone();
      }
    }
    long until = System.nanoTime() + CLOSE_NS;
    do {
      pollsEachMs = true;
      for (int i = 0; i < MAX_LOOKS && pollsEachMs; i++) {
        work();
      }
    } while (pollsEachMs && System.nanoTime() - until < 0);
  }
}

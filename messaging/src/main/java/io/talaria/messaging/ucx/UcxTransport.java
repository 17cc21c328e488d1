// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.ffi.Epoll;
import io.talaria.ffi.Libc;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.transport.RingPair;
import io.talaria.ucx.Config;
import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.Status;
import io.talaria.ucx.ThreadMode;
import io.talaria.ucx.Ucx;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.Worker;
import io.talaria.ucx.WorkerAddress;
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
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * A node's worker of UCX, and what is known of the processes that it reaches.
 *
 * <p><b>Turns.</b> One thread at a time has the worker, for as long as it takes to make progress,
 * to take what has come and to send what may be sent: the poller in each of its turns, a thread
 * that waits for its answer, a sender. Who finds it taken leaves word in {@link #again}, and who
 * has it looks for that after giving it back.
 *
 * <p><b>Sleeping.</b> UCX's descriptor becomes readable for what comes after it was armed, and
 * stays so until it is armed again.
 *
 * <ol>
 *   <li>The poller alone arms, in {@link #arm}: last of all before it sleeps, with the worker, and
 *       after a round of progress that has brought nothing. What came before was taken, what comes
 *       later is signalled.
 *   <li>UCX refuses while something has come, or while it cannot give away what it has. Then there
 *       is another round; after {@link #ARM_TRIES} of them the poller sleeps without, and looks
 *       each millisecond until UCX agrees.
 *   <li>The thread {@code talaria-ID-ucx} sleeps on the descriptor while {@link #armed}, which the
 *       poller says after arming. It takes that back before it wakes the poller, who says it anew
 *       before it sleeps again: so each signal wakes the poller, and none is waited for twice.
 *   <li>Threads that wait for answers make progress while the poller sleeps, and may take what was
 *       signalled: then the poller is woken for nothing. What they take for others they leave in
 *       the mirrors, and wake the poller ({@link #wake}) when they have given the worker back.
 *   <li>Senders make no progress. What they send is gone at once, or in flight: then they wake the
 *       poller, which looks each millisecond as long as anything is in flight or being closed
 *       ({@link #pollsEachMs}), because no event tells when UCX is done.
 *   <li>What UCX does about an endpoint that was closed by force takes some more rounds, of which
 *       no event tells either: {@link #ROUNDS_TO_CLOSE}.
 *   <li>In UCX's shared memory a sender takes away the mark of the one who sleeps, writes, and
 *       rings last. If it is killed or stopped in between, nobody has rung, and those who send
 *       after it see no mark. So while there are connections the poller looks twice a second; UCX
 *       itself does every 20 seconds.
 * </ol>
 */
public final class UcxTransport implements NetworkTransport {
  /** Whether to use what UCX carries by TCP; for tests. */
  private static final String BY_TCP = "talaria.ucx.tcp";

  /** How often is looked at what UCX has under way, of which no event tells. */
  private static final int POLL_MS = 1;

  /** The same while there are connections, in case that somebody was killed before it rang. */
  private static final int LOOK_MS = 500;

  /** Rounds of progress until UCX has given back all of an endpoint, and armed what it was on. */
  private static final int ROUNDS_TO_CLOSE = 8;

  /**
   * How often UCX is asked to be armed before that is left: it refuses as long as it cannot give
   * away what it has, which may be as long as a process that takes it is stopped, or for ever.
   */
  private static final int ARM_TRIES = 16;

  private static final int MAX_READY = 64;
  private static final int MAX_ROUNDS = 32;
  private static final int MAX_LOOKS = 1 << 10;
  private static final int SPINS = 1 << 10;
  private static final int LOOK_FOR_FAILURES_EVERY = 1 << 12;
  private static final long CLOSE_NS = 200_000_000;
  private static final long JOIN_MS = 1000;

  /** UCX numbers the endpoints between two workers with 16 bits. */
  private static final int MAX_MADE = 60_000;

  /** By how much two nodes may differ in what they count, by handshakes that came to nothing. */
  private static final int MAX_BEHIND = 64;

  /** On a channel that has brought nothing in so long something does not work. */
  private static final long DUMB_NS = 5_000_000_000L;

  /** What is known of a process of another node. */
  private static final class Known {
    final int id;
    long incarnation;

    /** Endpoints made for its worker; see {@link UcxLayout}. */
    int made;

    UcxChannel channel;

    /** What its next fresh stream is to begin with. */
    long token;

    /** Why it is not to be used, or null. */
    String obstacle;

    Known(int id) {
      this.id = id;
    }

    boolean isOpen() {
      return channel != null && channel.isOpen();
    }
  }

  /** An endpoint that is being closed. */
  private static final class Closing {
    /** Of which it was, with sends that UCX is not done with; or null. */
    private final UcxChannel channel;

    /** Of the closing; 0 or less if it is over. */
    private long request;

    private int rounds;

    Closing(UcxChannel channel, long request) {
      this.channel = channel;
      this.request = request;
    }
  }

  private final Context context;
  private final Worker worker;
  private final byte[] address;
  private final int descriptor;
  private final Epoll epoll;
  private final Thread watcher;
  private final SecureRandom random = new SecureRandom();
  private Runnable wakePoller = () -> {};
  private int lookMs;

  // Of whoever has the worker.
  private final Map<Integer, Known> known = new HashMap<>();
  private final List<UcxChannel> channels = new ArrayList<>();
  private final List<Closing> closing = new ArrayList<>();
  private final Endpoint[] ready = new Endpoint[MAX_READY];
  private final Endpoint[] failed = new Endpoint[MAX_READY];
  private int looks;
  private boolean came;
  private boolean wake;
  private UcxLink leader;

  /** Replaced by whoever has the worker. */
  private volatile UcxLink[] links = {};

  /** Sends or closings are under way, of which no event tells. */
  private volatile boolean pollsEachMs;

  /** UCX was not to be armed. Of the poller. */
  private boolean refuses;

  /** A link wants to be pushed: it says so first, then this. */
  private volatile boolean again;

  /** The poller waits for the worker. */
  private volatile boolean pollerWaits;

  /** The poller sleeps, or will: the watcher is to wake it. */
  private volatile boolean armed;

  private volatile boolean closed;

  private UcxTransport(Context context, Worker worker, String thread) {
    this.context = context;
    this.worker = worker;
    worker.enter();
    try {
      address = worker.address().toBytes();
      descriptor = worker.eventDescriptor();
      watcher = new Thread(null, this::watch, thread, 0, false);
      watcher.setDaemon(true);
      epoll = watching(worker); // last: nobody closes it if something fails after it
    } finally {
      worker.exit();
    }
  }

  /**
   * A set with a worker's event in it, for whoever has the worker.
   *
   * @return one to be closed; if it cannot be made whole, nothing of it is left open
   */
  static Epoll watching(Worker worker) {
    Epoll epoll = new Epoll();
    try {
      epoll.add(worker.eventDescriptor());
    } catch (RuntimeException | Error e) {
      epoll.close();
      throw e;
    }
    return epoll;
  }

  /**
   * Loads UCX, and opens a worker: some hundred milliseconds, some megabytes and descriptors.
   *
   * @param thread the name of its thread
   * @param connections about how many there will be
   * @return one to be closed
   * @throws IOException if that cannot be; with a sentence that says what to do
   */
  public static NetworkTransport open(String thread, int connections) throws IOException {
    Context context = null;
    Worker worker = null;
    try {
      // Before UCX is loaded. It uses its shared memory on endpoints that find failures only if it
      // is told to, and warns of that word if it may not use shared memory at all.
      Ucx.defaultSetting("UCX_POSIX_ERROR_HANDLING", "y");
      Ucx.defaultSetting("UCX_WARN_UNUSED_ENV_VARS", "n");
      Optional<String> obstacle = Ucx.unavailableReason();
      if (obstacle.isPresent()) {
        throw new IOException(obstacle.get());
      }
      context = context(connections);
      worker = Worker.open(context, Worker.Options.defaults().threads(ThreadMode.SERIALIZED));
      return new UcxTransport(context, worker, thread);
    } catch (UcxException | IllegalStateException e) { // of UCX; of the kernel: no descriptors
      if (worker != null) {
        worker.close();
      }
      if (context != null) {
        context.close();
      }
      throw new IOException("UCX does not work here: " + e.getMessage(), e);
    }
  }

  /**
   * UCX's sockets know no key, and are no faster than the transport over TCP: they are not opened.
   */
  private static Context context(int connections) {
    try (Config config = Config.read()) {
      if (!Boolean.getBoolean(BY_TCP) && Libc.getenv("UCX_TLS").isEmpty()) {
        config.set("TLS", "^tcp");
      }
      return Context.open(
          Context.Options.of(Feature.STREAM, Feature.WAKEUP).estimatedEndpoints(connections),
          config);
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
      if (epoll.await(-1)) { // else the process was stopped, and goes on
        armed = false;
        wakePoller.run();
      }
    }
  }

  // ---- turns

  /** Takes the worker, if nobody has it. Any thread. */
  boolean enter() {
    try {
      return !closed && worker.tryEnter();
    } catch (IllegalStateException e) {
      return false; // closed meanwhile
    }
  }

  /** Gives it back, and does what others have left. */
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

  /** Takes the worker, and waits for it: those who have it have it for moments. */
  private boolean enterWaiting() {
    pollerWaits = true; // who waits for answers stays away meanwhile
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

  /** Makes progress and takes what has come; whether anything has, or room was made. */
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
    if ((++looks & LOOK_FOR_FAILURES_EVERY - 1) == 0) {
      lookForFailures();
    }
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
    for (int i = closing.size() - 1; i >= 0; i--) {
      if (isClosed(closing.get(i))) {
        closing.remove(i);
      }
    }
    pollsEachMs = still || !closing.isEmpty();
  }

  private boolean isClosed(Closing one) {
    if (one.channel != null) {
      one.channel.reap();
    }
    if (one.request > 0 && worker.poll(one.request) != Status.IN_PROGRESS) {
      one.request = 0;
    }
    boolean left = one.request > 0 || (one.channel != null && one.channel.inFlight());
    return !left && ++one.rounds >= ROUNDS_TO_CLOSE;
  }

  private void lookForFailures() {
    int count = worker.pollFailures(failed);
    for (int i = 0; i < count; i++) {
      UcxChannel channel = (UcxChannel) failed[i].attachment();
      failed[i] = null;
      channel.end(channel.failure());
    }
  }

  @Override
  public boolean bring() {
    if (!enter()) {
      return false; // who has it brings it
    }
    try {
      return work();
    } finally {
      wake = false; // it is awake
      exit();
    }
  }

  /** The same, but waits for the worker. Poller. */
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

  /** The same, by a thread that waits for an answer on a connection. */
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

  /** Has a connection's records sent, by this thread or by who has the worker. Any thread. */
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
        wakePoller.run(); // it is nobody else's work
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
      lookForFailures();
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

  /** Takes what has come; if nothing has, arms. */
  private boolean tryArm() {
    return !work() && !wake && !again && worker.arm();
  }

  @Override
  public int maxSleepMs() {
    return pollsEachMs || refuses ? POLL_MS : links.length == 0 ? 0 : lookMs;
  }

  // ---- of the channels and links; by whoever has the worker

  /** A connection has something to send. */
  void wants(UcxLink link) {
    link.again = true;
    again = true;
    came = true;
  }

  /** Something has come for a priority. */
  void brought(UcxLink link, int priority) {
    came = true;
    if (link != leader || priority == RingPair.DATA) {
      wake = true;
    }
  }

  /** Something was sent with which UCX is not done: the poller is to look after it. */
  void posted() {
    if (!pollsEachMs) {
      pollsEachMs = true;
      wake = true;
    }
  }

  int poll(long request) {
    return worker.poll(request);
  }

  /** An endpoint was closed. */
  void closed(UcxChannel channel, long request) {
    channels.remove(channel);
    closing.add(new Closing(channel, request));
    posted();
  }

  /** A connection is over, and nobody is inside. Conductor. */
  void left(UcxLink link) {
    if (!enterWaiting()) {
      return;
    }
    try {
      links = Arrays.stream(links).filter(each -> each != link).toArray(UcxLink[]::new);
      UcxChannel channel = link.channel();
      if (channel.end(link) && !link.endedInOrder()) {
        // Whoever is at the other end, what comes from there is of no use.
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

  /** What is known of a process; of another one with the same id nothing is from now on. */
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

  /** Makes an endpoint, the one behind so many that both sides have made or make up for. */
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
        Endpoint unpaired = worker.connect(options); // its counterpart came to nothing
        peer.made++;
        closing.add(new Closing(null, unpaired.closeForced()));
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

  /** For people, and without any order between the words. */
  @Override
  public String toString() {
    return "worker: "
        + (armed ? "armed" : "not armed")
        + (closed ? ", closed" : Libc.awaitReadable(descriptor, 0) ? ", event" : ", no event")
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
    worker.close();
    context.close();
    if (!watcher.isAlive()) {
      epoll.close();
    }
  }

  /** The others close their endpoints, too; what is under way gets a moment. */
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

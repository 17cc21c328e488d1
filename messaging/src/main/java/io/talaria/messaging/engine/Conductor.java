// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.counters.NodeFile;
import io.talaria.messaging.handshake.Announcement;
import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.messaging.handshake.NodeHandshake;
import io.talaria.messaging.handshake.Pairing;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LoopLink;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.transport.ShmLayout;
import io.talaria.messaging.transport.ShmLink;
import io.talaria.messaging.transport.TcpLink;
import io.talaria.nio.Reason;
import io.talaria.nio.authentication.HostKey;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.process.Host;
import io.talaria.nio.process.PeerCredentials;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The one thread that opens, accepts, ends and gives back connections, in the order in which that
 * was asked for. It blocks on no peer: each step of a handshake is non-blocking and has a deadline.
 */
final class Conductor extends Thread {
  private static final long HANDSHAKE_NS = 5_000_000_000L;

  /** Of strangers, who have proved nothing yet. */
  private static final int MAX_STRANGERS = 64;

  private static final long FIRST_RETRY_NS = 100_000_000L;
  private static final long LAST_RETRY_NS = 10_000_000_000L;
  private static final long TICK_NS = 500_000_000L;
  private static final long PING_NS = 2_000_000_000L;
  private static final long SUSPECT_NS = 5_000_000_000L;
  private static final long GIVE_UP_NS = 30_000_000_000L;
  private static final long ASK_NS = 1_000_000_000L;
  private static final long LEAVE_NS = 1_000_000_000L;

  /** Both have agreed, but a message that was on its way may wait for a handler. */
  private static final long PART_NS = 5_000_000_000L;

  private static final long QUIET_NS = 2_000_000_000L;
  private static final String TCP_WITHOUT_SHM = "no announcement of it on this host";
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** What is known of another node. */
  private static final class Pair {
    final RemotePeer peer;
    final Pairing pairing;
    boolean wanted;
    long retryNs;
    long backoffNs = FIRST_RETRY_NS;
    boolean toldUnreachable;
    boolean resolving;

    /** While it is being dialled, if its host had to be looked up. */
    InetSocketAddress resolved;

    NodeHandshake dial;

    /** Was answered with WELCOME, and is not ready yet. */
    NodeHandshake accepting;

    Pair(RemotePeer peer, Pairing pairing) {
      this.peer = peer;
      this.pairing = pairing;
    }
  }

  /** What one handshake has come to. */
  private static final class Step {
    Pair pair;
    HandshakeMessage.Hello hello;
    boolean connecting;
    boolean local;

    /** That was dialled, or null. */
    InetSocketAddress address;

    /** The transports that this side has said it takes, bits of {@link HandshakeMessage}. */
    int offered;

    int number;
    int transport;
    long file;
    Mapping mapping;
    String why = TCP_WITHOUT_SHM;
  }

  private static final class Life {
    final Liveness liveness = new Liveness(System.nanoTime());
    long usedNs = System.nanoTime();
    long activity;
    boolean suspect;
    boolean left;
    boolean finished;
    long leaveNs;
  }

  private record Timer(long timeNs, long order, Runnable task) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(timeNs - other.timeNs, 0);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  private final LocalNode node;
  private final NodeOptions options;
  private final Selector selector;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();

  /** Guarded by itself. */
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();

  private final AtomicLong order = new AtomicLong();
  private final Map<Integer, Pair> pairs = new HashMap<>();
  private final Set<NodeHandshake> handshakes = new LinkedHashSet<>();
  private final Map<Connection, Life> connections = new ConcurrentHashMap<>();
  private final PrivateDirectory shmDirectory;
  private final SharedFiles files;
  private final long incarnation = new SecureRandom().nextLong();
  private final long cluster;
  private final byte[] key;
  private final HandshakeMessage.Offer offer;

  /** Or null. */
  private final NetworkTransport network;

  private final Announcement announcement;
  private final ServerSocketChannel tcp;
  private final StallDetector stallDetector;
  private NodeFile file;
  private boolean fileFailed;
  private volatile boolean stopped;

  Conductor(LocalNode node) throws IOException {
    super(node.threadName("conductor"));
    setDaemon(true);
    this.node = node;
    options = node.options();
    stallDetector = new StallDetector(node);
    cluster = Fnv.hash(options.cluster());
    key = options.key() == null ? null : HostKey.read(options.key());
    if (options.isEncrypted() && key == null) {
      throw new IllegalArgumentException("encrypted() needs a key: call NodeOptions.key");
    }
    offer = offer();
    network = node.network();
    Path shm = options.sharedMemoryDirectory();
    shmDirectory =
        new PrivateDirectory(
            shm == null ? standard("talaria.shm.dir", "/dev/shm/talaria-") : shm,
            Reason.NO_SHM_DIR);
    files = new SharedFiles(shmDirectory);
    selector = Selector.open();
    ServerSocketChannel listener = null;
    Announcement announced = null;
    try {
      listener = listen();
      if (options.transports().contains(Transport.SHM) || network != null) {
        Path run = options.runDirectory();
        announced =
            new Announcement(
                run == null ? standard("talaria.dir", "/tmp/talaria-") : run,
                cluster,
                options.id());
        announced.open();
        announced.channel().register(selector, SelectionKey.OP_ACCEPT);
        files.sweep();
      }
    } catch (IOException | RuntimeException e) {
      closeQuietly(listener);
      if (announced != null) {
        announced.close();
      }
      selector.close();
      throw e;
    }
    tcp = listener;
    announcement = announced;
    at(System.nanoTime() + TICK_NS, this::tick);
  }

  private static Path standard(String property, String begin) {
    String value = System.getProperty(property);
    return Path.of(value != null ? value : begin + Host.uid());
  }

  private ServerSocketChannel listen() throws IOException {
    if (options.listen() == null) {
      return null;
    }
    ServerSocketChannel channel = ServerSocketChannel.open();
    try {
      channel.configureBlocking(false);
      channel.bind(options.listen(), Announcement.BACKLOG);
      channel.register(selector, SelectionKey.OP_ACCEPT);
      return channel;
    } catch (IOException e) {
      channel.close();
      throw new IOException("cannot listen on " + options.listen() + ": " + e.getMessage(), e);
    }
  }

  private HandshakeMessage.Offer offer() {
    List<TypeEntry> entries = node.types().entries();
    List<String> names = entries.stream().map(TypeEntry::name).toList();
    List<Long> fingerprints = entries.stream().map(each -> each.fingerprint).toList();
    return new HandshakeMessage.Offer(
        Host.pid(),
        options.maxMessageBytes(),
        options.dataRingBytes(),
        options.controlRingBytes(),
        names,
        fingerprints);
  }

  /** Of a node that was not started. */
  void undo() {
    closeNow();
  }

  int port() {
    try {
      return tcp == null ? -1 : ((InetSocketAddress) tcp.getLocalAddress()).getPort();
    } catch (IOException e) {
      return -1;
    }
  }

  int connectionCount() {
    return connections.size();
  }

  List<Connection> connections() {
    return List.copyOf(connections.keySet());
  }

  // ---- the thread

  void execute(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  void at(long timeNs, Runnable task) {
    synchronized (timers) {
      timers.add(new Timer(timeNs, order.getAndIncrement(), task));
    }
    selector.wakeup();
  }

  @Override
  public void run() {
    ThreadContext.current().poller = true; // its listeners must not wait
    tasks.add(this::show);
    while (!stopped) {
      try {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
          task.run();
        }
        long wait = runTimers();
        selector.select(wait);
        for (SelectionKey each : List.copyOf(selector.selectedKeys())) {
          ready(each);
        }
        selector.selectedKeys().clear();
      } catch (Throwable e) {
        node.internal("conductor", e); // and goes on: without it, nobody is found or given up
      }
    }
    closeNow();
  }

  /** Runs what is due; the time until the next, in milliseconds. */
  private long runTimers() {
    while (true) {
      Timer next;
      synchronized (timers) {
        next = timers.peek();
        long left = next == null ? TICK_NS : next.timeNs - System.nanoTime();
        if (left > 0) {
          return Math.max(1, left / 1_000_000);
        }
        timers.poll();
      }
      next.task.run();
    }
  }

  private void ready(SelectionKey key) {
    if (key.attachment() instanceof NodeHandshake handshake) {
      if (key.isValid()) {
        step(handshake);
      }
    } else if (key.isValid() && key.isAcceptable()) {
      accept((ServerSocketChannel) key.channel());
    }
  }

  // ---- wanting and dialling

  /** Any thread. */
  void want(RemotePeer peer) {
    if (peer.requested.compareAndSet(false, true)) {
      execute(() -> wanted(peer));
    }
  }

  private Pair pair(int id) {
    return pairs.computeIfAbsent(
        id, each -> new Pair(node.remote(each), new Pairing(options.id(), each)));
  }

  private void wanted(RemotePeer peer) {
    Pair pair = pair(peer.id());
    if (peer.connection() != null || node.closing()) {
      peer.requested.set(false);
      return;
    }
    boolean underWay = pair.wanted || pair.resolving || pair.dial != null;
    pair.wanted = true;
    if (underWay) {
      return;
    }
    long now = System.nanoTime();
    if (pair.retryNs - now > 0) {
      at(pair.retryNs, () -> dialIfWanted(pair));
    } else {
      dialIfWanted(pair);
    }
  }

  private void dialIfWanted(Pair pair) {
    if (pair.wanted
        && !pair.resolving
        && pair.dial == null
        && pair.accepting == null
        && pair.peer.connection() == null
        && !pair.pairing.isConnected()
        && !node.closing()) {
      dial(pair);
    }
  }

  private void dial(Pair pair) {
    try {
      if (pair.peer.id() == options.id()) {
        Connection loop = newConnection(pair, 1, incarnation, offer, HandshakeMessage.Forms.NONE);
        start(loop, new LoopLink(loop, options.dataRingBytes(), options.controlRingBytes()), pair);
        return;
      }
      Step step = new Step();
      step.pair = pair;
      SocketChannel channel = connect(pair, step);
      if (channel != null) {
        handshake(pair, step, channel);
      }
    } catch (Throwable e) { // of the program's directory, too: tried again when it is wanted
      String why = why(pair, e);
      NodeHandshake dial = pair.dial;
      if (dial != null && handshakes.contains(dial)) {
        end(dial, why);
      } else {
        unreachable(pair, Code.UNREACHABLE, why);
      }
    }
  }

  private void handshake(Pair pair, Step step, SocketChannel channel) throws IOException {
    boolean begun = false;
    try {
      NodeHandshake handshake =
          new NodeHandshake(
              channel, true, step.local || step.connecting ? null : key, options.isEncrypted());
      handshake.attachment = step;
      pair.dial = handshake;
      begin(handshake, step.connecting ? SelectionKey.OP_CONNECT : SelectionKey.OP_READ);
      begun = true;
      if (!step.connecting) {
        sayHello(handshake, step);
      }
    } finally {
      if (!begun) {
        channel.close();
      }
    }
  }

  /** For people: what an attempt has come to. What is not usual goes to the log, too. */
  private String why(Pair pair, Throwable thrown) {
    if (thrown instanceof IOException && thrown.getMessage() != null) {
      return thrown.getMessage();
    }
    node.internal(pair == null ? "handshake" : "connecting to " + pair.peer, thrown);
    return (pair == null ? "" : pair.peer + ": ") + Thrown.text(thrown);
  }

  /** The address of a node, or null. */
  private InetSocketAddress addressOf(int id) throws IOException {
    try {
      return options.directory().address(id);
    } catch (Throwable e) { // the program's
      throw new IOException("the directory of nodes has failed: " + Thrown.text(e), e);
    }
  }

  /** A channel to a node, connected or about to; null if none was found, which was told. */
  private SocketChannel connect(Pair pair, Step step) throws IOException {
    int id = pair.peer.id();
    if (announcement != null) {
      SocketChannel local = announcement.dial(id);
      if (local != null) {
        step.local = true;
        step.why = "same host";
        return local;
      }
    }
    InetSocketAddress address = pair.resolved != null ? pair.resolved : addressOf(id);
    if (transports(false) == 0 || address == null) {
      unreachable(
          pair,
          Code.UNREACHABLE,
          "node "
              + id
              + " is not announced on this host"
              + (announcement == null ? " (transport shm is off)" : "")
              + (transports(false) != 0
                  ? " and not in the directory of nodes"
                  : network == null
                      ? ", and transport tcp is off"
                      : ", transport tcp is off, and ucx is for this host alone: "
                          + unfitBetweenHosts()));
      return null;
    }
    if (address.isUnresolved()) {
      resolve(pair, address);
      return null;
    }
    if (key == null && !options.isInsecure() && !address.getAddress().isLoopbackAddress()) {
      unreachable(
          pair,
          Code.REFUSED,
          "node "
              + id
              + " is at "
              + text(address)
              + ", and there is no key: call NodeOptions.key, or insecure() if you must");
      return null;
    }
    SocketChannel channel = SocketChannel.open();
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.connect(address);
      step.address = address;
      step.connecting = true;
      return channel;
    } catch (IOException | RuntimeException e) { // as of an address of no known kind
      channel.close();
      throw new IOException("node " + id + " at " + text(address) + ": " + e.getMessage(), e);
    }
  }

  /** For people: as it was said, with a name if that is what it was. */
  private static String text(InetSocketAddress address) {
    return address == null ? "?" : address.getHostString() + ":" + address.getPort();
  }

  /** That may take long, and the conductor waits for nobody. */
  private void resolve(Pair pair, InetSocketAddress address) {
    Thread.ofPlatform()
        .daemon()
        .name(node.threadName("resolver"))
        .start(
            () -> {
              try {
                InetSocketAddress found =
                    new InetSocketAddress(address.getHostString(), address.getPort());
                execute(() -> resolved(pair, found));
              } catch (Throwable e) { // of a resolver of the program's
                execute(() -> notResolved(pair, e));
              }
            });
    pair.resolving = true; // it has begun; what it finds is told to this thread
  }

  private void notResolved(Pair pair, Throwable thrown) {
    pair.resolving = false;
    unreachable(pair, Code.UNREACHABLE, why(pair, thrown));
  }

  private void resolved(Pair pair, InetSocketAddress found) {
    pair.resolving = false;
    if (found.isUnresolved()) {
      unreachable(
          pair,
          Code.UNREACHABLE,
          "host " + found.getHostString() + " of node " + pair.peer.id() + " is not known");
      return;
    }
    pair.resolved = found;
    dialIfWanted(pair);
    pair.resolved = null;
  }

  private void begin(NodeHandshake handshake, int interest) throws IOException {
    if (isStranger(handshake)) {
      List<NodeHandshake> strangers = handshakes.stream().filter(Conductor::isStranger).toList();
      if (strangers.size() >= MAX_STRANGERS) {
        end(strangers.getFirst(), "too many handshakes at a time");
      }
    }
    handshake.deadlineNs = System.nanoTime() + HANDSHAKE_NS;
    handshakes.add(handshake);
    handshake.channel().register(selector, interest, handshake);
    at(handshake.deadlineNs, () -> expired(handshake));
  }

  /** What has come by now counts: it may be this thread that is late. */
  private void expired(NodeHandshake handshake) {
    if (handshakes.contains(handshake)) {
      try {
        step(handshake);
      } finally {
        end(handshake, "no response within 5 s");
      }
    }
  }

  private static boolean isStranger(NodeHandshake handshake) {
    return !handshake.dialled() && !((Step) handshake.attachment).local;
  }

  private void sayHello(NodeHandshake handshake, Step step) throws IOException {
    Pair pair = step.pair;
    if (handshake.proved()) {
      int transports = transports(step.local);
      byte[] way =
          (transports & HandshakeMessage.UCX) == 0 ? new byte[0] : network.offer(pair.peer.id());
      step.offered = way.length == 0 ? transports & ~HandshakeMessage.UCX : transports;
      handshake.send(
          new HandshakeMessage.Hello(
                  cluster,
                  options.id(),
                  pair.peer.id(),
                  incarnation,
                  pair.pairing.heard(),
                  step.offered,
                  offer,
                  ByteBuffer.wrap(way))
              .frame());
      pair.pairing.saidHello();
      step.number = -1; // said
    }
    flush(handshake);
  }

  /** The transports that a session can lead to here, bits of {@link HandshakeMessage}. */
  private int transports(boolean local) {
    Set<Transport> own = options.transports();
    int transports = own.contains(Transport.TCP) ? HandshakeMessage.TCP : 0;
    if (local && own.contains(Transport.SHM)) {
      transports |= HandshakeMessage.SHM;
    }
    if (network != null && (local || unfitBetweenHosts() == null)) {
      transports |= HandshakeMessage.UCX;
    }
    return transports;
  }

  /** Why transport ucx is not used on sessions by TCP, or null. */
  private String unfitBetweenHosts() {
    if (network == null) {
      return node.networkUnavailableReason();
    }
    if (options.isEncrypted()) {
      return "what UCX carries is not encrypted";
    }
    // Its addresses are parsed by UCX, which trusts them.
    return key == null && !options.isInsecure() ? "there is no key" : null;
  }

  private void flush(NodeHandshake handshake) throws IOException {
    boolean all = handshake.flush();
    SelectionKey registered = handshake.channel().keyFor(selector);
    if (registered != null && registered.isValid()) {
      registered.interestOps(
          all ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }
  }

  private void accept(ServerSocketChannel listener) {
    try {
      SocketChannel channel = listener.accept();
      if (channel == null) {
        return;
      }
      Step step = new Step();
      step.local = announcement != null && listener == announcement.channel();
      try {
        channel.configureBlocking(false);
        String refusal = step.local ? localRefusal(channel) : tcpRefusal(channel);
        if (refusal != null || node.closing()) {
          channel.close();
          return;
        }
        NodeHandshake handshake =
            new NodeHandshake(channel, false, step.local ? null : key, options.isEncrypted());
        handshake.attachment = step;
        begin(handshake, SelectionKey.OP_READ);
      } catch (IOException e) {
        channel.close();
      } catch (Throwable e) {
        channel.close();
        throw e;
      }
    } catch (Throwable e) {
      node.internal("accept", e);
    }
  }

  private String localRefusal(SocketChannel channel) throws IOException {
    return PeerCredentials.sameUser(channel, announcement.directory()) ? null : "another user";
  }

  private String tcpRefusal(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    InetSocketAddress from = (InetSocketAddress) channel.getRemoteAddress();
    boolean trusted = key != null || options.isInsecure() || from.getAddress().isLoopbackAddress();
    return trusted ? null : "no key";
  }

  // ---- handshakes

  private void step(NodeHandshake handshake) {
    Step step = (Step) handshake.attachment;
    try {
      if (step.connecting) {
        connected(handshake, step);
        return;
      }
      boolean came = true;
      while (came && handshakes.contains(handshake)) {
        came = handshake.fill();
        if (!handshake.prove()) {
          flush(handshake);
          continue;
        }
        if (handshake.dialled() && step.number == 0) {
          sayHello(handshake, step);
        }
        ByteBuffer frame = handshake.frame();
        if (frame != null) {
          came = true;
          frame(handshake, step, frame);
        }
      }
      if (handshakes.contains(handshake)) {
        flush(handshake);
      }
    } catch (Throwable e) {
      end(handshake, why(step.pair, e));
    }
  }

  private void connected(NodeHandshake handshake, Step step) throws IOException {
    try {
      if (!handshake.channel().finishConnect()) {
        return;
      }
    } catch (IOException e) {
      throw new IOException(
          "node " + step.pair.peer.id() + " at " + text(step.address) + ": " + e.getMessage(), e);
    }
    handshakes.remove(handshake);
    NodeHandshake proving =
        new NodeHandshake(handshake.channel(), true, key, options.isEncrypted());
    step.connecting = false;
    proving.attachment = step;
    step.pair.dial = proving;
    begin(proving, SelectionKey.OP_READ);
    sayHello(proving, step);
  }

  private void frame(NodeHandshake handshake, Step step, ByteBuffer frame) throws IOException {
    byte kind = frame.get();
    if (handshake.dialled()) {
      switch (kind) {
        case HandshakeMessage.WELCOME ->
            welcomed(handshake, step, HandshakeMessage.Welcome.of(frame));
        case HandshakeMessage.REJECT -> rejected(handshake, step, frame);
        default -> throw new IOException("a frame of kind " + kind + " answers HELLO");
      }
    } else if (step.hello == null && kind == HandshakeMessage.HELLO) {
      step.hello = HandshakeMessage.Hello.of(frame);
      hello(handshake, step);
    } else if (kind == HandshakeMessage.READY && step.transport != 0) {
      readied(handshake, step, HandshakeMessage.forms(frame));
    } else {
      throw new IOException("a frame of kind " + kind + " at the wrong time");
    }
  }

  private void hello(NodeHandshake handshake, Step step) throws IOException {
    HandshakeMessage.Hello hello = step.hello;
    if (hello.cluster() != cluster) {
      reject(handshake, HandshakeMessage.REJECT_OTHER, "it is a node of another cluster");
      return;
    }
    if (hello.to() != options.id() || hello.from() == options.id()) {
      reject(
          handshake,
          HandshakeMessage.REJECT_OTHER,
          "it is node "
              + options.id()
              + ", not "
              + hello.to()
              + ", which "
              + hello.from()
              + " wants");
      return;
    }
    if (node.closing()) {
      reject(handshake, HandshakeMessage.REJECT_FULL, "the node is closing");
      return;
    }
    step.pair = pair(hello.from());
    decide(handshake, step);
  }

  private void decide(NodeHandshake handshake, Step step) throws IOException {
    Pair pair = step.pair;
    HandshakeMessage.Hello hello = step.hello;
    Connection there = pair.peer.connection();
    switch (pair.pairing.onHello(hello.incarnation(), hello.heard())) {
      case ACCEPT -> welcome(handshake, step);
      case REPLACE -> {
        forget(pair, "the other side has lost the connection, and made a new one");
        welcome(handshake, step);
      }
      case REFUSE_OWN_DIAL ->
          reject(handshake, HandshakeMessage.REJECT_DUPLICATE, "both dialled at once");
      case REFUSE_LATE -> {
        if (there != null) {
          there.control(Records.PING, 0, 0);
        }
        reject(handshake, HandshakeMessage.REJECT_DUPLICATE, "there is a connection already");
      }
      case ASK -> {
        if (there == null) {
          pair.pairing.ended(pair.pairing.heard());
          welcome(handshake, step);
          return;
        }
        there.heard = false;
        there.control(Records.PING, 0, 0);
        at(System.nanoTime() + ASK_NS, () -> asked(handshake, step, there));
      }
    }
  }

  /** After a second: does the connection that has this id live? */
  private void asked(NodeHandshake handshake, Step step, Connection there) {
    if (!handshakes.contains(handshake)) {
      return;
    }
    try {
      if (there.dead() || !there.heard) {
        forget(step.pair, "another process has its id");
        welcome(handshake, step);
      } else {
        reject(
            handshake,
            HandshakeMessage.REJECT_ID,
            "id " + step.hello.from() + " is in use by another process that lives");
      }
      flush(handshake);
    } catch (Throwable e) {
      end(handshake, why(step.pair, e));
    }
  }

  private void forget(Pair pair, String reason) {
    Connection there = pair.peer.connection();
    pair.pairing.ended(pair.pairing.heard());
    if (there != null) {
      pair.peer.connection(null);
      node.pollerShallDrop(there, reason);
    }
  }

  private void reject(NodeHandshake handshake, byte code, String why) throws IOException {
    handshake.send(HandshakeMessage.reject(code, why));
    handshake.flush();
    end(handshake, null);
  }

  private void welcome(NodeHandshake handshake, Step step) throws IOException {
    Pair pair = step.pair;
    HandshakeMessage.Hello hello = step.hello;
    NodeHandshake own = pair.dial;
    if (own != null) {
      end(own, null); // it gives way
    }
    NodeHandshake before = pair.accepting;
    pair.accepting = handshake;
    if (before != null) {
      end(before, null); // its caller has given it up
    }
    step.number = pair.pairing.nextNumber(hello.heard());
    step.offered = transports(step.local);
    int common = step.offered & hello.transports();
    ByteBuffer way = NOTHING;
    if (step.local && (common & HandshakeMessage.SHM) != 0) {
      try {
        share(step, hello.offer());
      } catch (TransportException e) {
        reject(handshake, HandshakeMessage.REJECT_FULL, e.getMessage());
        return;
      }
    } else {
      step.why = step.local ? "same host" : "accepted by TCP";
      if ((common & HandshakeMessage.UCX) != 0) {
        try {
          way = acceptByNetwork(step);
        } catch (IOException e) {
          step.why += "; not by ucx: " + e.getMessage();
        }
      }
      if (step.transport == 0 && (common & HandshakeMessage.TCP) == 0) {
        reject(
            handshake,
            HandshakeMessage.REJECT_OTHER,
            "there is no transport in common" + notBy(step));
        return;
      }
      step.transport = step.transport == 0 ? HandshakeMessage.TCP : step.transport;
    }
    handshake.send(
        new HandshakeMessage.Welcome(
                incarnation,
                step.number,
                step.transport,
                step.file,
                offer,
                way,
                differing(hello.offer(), offer))
            .frame());
  }

  /** How own types are written of which another node has others by the same names. */
  private HandshakeMessage.Forms differing(
      HandshakeMessage.Offer theirs, HandshakeMessage.Offer beside) {
    Map<Integer, String> forms = new HashMap<>();
    for (int i = 0; i < theirs.names().size(); i++) {
      TypeEntry own = node.types().named(theirs.names().get(i));
      long fingerprint = theirs.fingerprints().get(i);
      if (own != null && own.form != null && fingerprint != 0 && own.fingerprint != fingerprint) {
        forms.put(own.index, own.form);
      }
    }
    return HandshakeMessage.Forms.of(forms, beside);
  }

  private void share(Step step, HandshakeMessage.Offer theirs) throws TransportException {
    step.transport = HandshakeMessage.SHM;
    int bytes = shmBytes(theirs);
    SharedFiles.Created<Mapping> made =
        files.create(
            ShmLayout.firstBytes(dataRingBytes(theirs), controlRingBytes(theirs)),
            (file, first) -> Mapping.map(file, bytes));
    step.file = made.id();
    step.mapping = made.mapping();
    ShmLayout.write(
        MemorySegment.ofBuffer(step.mapping.buffer()),
        dataRingBytes(theirs),
        controlRingBytes(theirs));
  }

  private ByteBuffer acceptByNetwork(Step step) throws IOException {
    byte[] response =
        network.accept(
            step.pair.peer.id(),
            step.hello.incarnation(),
            incarnation,
            bytes(step.hello.network()));
    step.transport = HandshakeMessage.UCX;
    return ByteBuffer.wrap(response);
  }

  private static byte[] bytes(ByteBuffer from) {
    byte[] bytes = new byte[from.remaining()];
    from.duplicate().get(bytes);
    return bytes;
  }

  /** Why what is in common, or could be, is not used; for people. */
  private String notBy(Step step) {
    int at = step.why.indexOf(';');
    return ": here "
        + (step.local ? "on this host" : "by TCP")
        + " are "
        + options.transports()
        + (at < 0 ? "" : step.why.substring(at));
  }

  /** Both sides use the smaller rings. */
  private int dataRingBytes(HandshakeMessage.Offer other) {
    return Math.min(offer.dataRingBytes(), other.dataRingBytes());
  }

  private int controlRingBytes(HandshakeMessage.Offer other) {
    return Math.min(offer.controlRingBytes(), other.controlRingBytes());
  }

  private int shmBytes(HandshakeMessage.Offer other) {
    return ShmLayout.bytes(dataRingBytes(other), controlRingBytes(other));
  }

  private void welcomed(NodeHandshake handshake, Step step, HandshakeMessage.Welcome welcome)
      throws IOException {
    step.number = welcome.number();
    step.transport = welcome.transport();
    if (Integer.bitCount(step.transport) != 1 || (step.transport & step.offered) == 0) {
      throw new IOException("transport " + step.transport + " was not offered");
    }
    if (step.transport == HandshakeMessage.UCX) {
      network.accepted(step.pair.peer.id(), welcome.incarnation(), bytes(welcome.network()));
    } else if (step.transport == HandshakeMessage.SHM) {
      try {
        step.mapping = files.open(welcome.file(), shmBytes(welcome.offer()), welcome.offer().pid());
      } catch (TransportException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
    handshake.send(HandshakeMessage.ready(differing(welcome.offer(), null)));
    if (!handshake.flush()) {
      throw new IOException("the other side does not read");
    }
    establish(handshake, step, welcome.incarnation(), welcome.offer(), welcome.forms());
  }

  private void rejected(NodeHandshake handshake, Step step, ByteBuffer frame) throws IOException {
    byte code = frame.get();
    String text = HandshakeMessage.rejectText(frame);
    Pair pair = step.pair;
    end(handshake, null);
    if (code == HandshakeMessage.REJECT_DUPLICATE) {
      // The other's dial comes, or not: then ours is tried again.
      pair.retryNs = System.nanoTime() + FIRST_RETRY_NS;
      at(pair.retryNs, () -> dialIfWanted(pair));
    } else {
      unreachable(pair, Code.REFUSED, "node " + pair.peer.id() + " refuses: " + text);
    }
  }

  private void readied(NodeHandshake handshake, Step step, HandshakeMessage.Forms forms)
      throws IOException {
    establish(handshake, step, step.hello.incarnation(), step.hello.offer(), forms);
  }

  private void establish(
      NodeHandshake handshake,
      Step step,
      long with,
      HandshakeMessage.Offer theirs,
      HandshakeMessage.Forms forms)
      throws IOException {
    Pair pair = step.pair;
    leaveHandshakes(handshake);
    try {
      if (pair.pairing.established(step.number, with)) {
        begin(handshake, step, with, theirs, forms);
        return;
      }
    } catch (Throwable e) {
      pair.pairing.ended(step.number);
      unreachable(pair, Code.UNREACHABLE, why(pair, e));
    }
    handshake.close();
    giveBack(step);
  }

  private void begin(
      NodeHandshake handshake,
      Step step,
      long with,
      HandshakeMessage.Offer theirs,
      HandshakeMessage.Forms forms)
      throws IOException {
    Pair pair = step.pair;
    Connection connection = newConnection(pair, step.number, with, theirs, forms);
    int[] capacity = {dataRingBytes(theirs), controlRingBytes(theirs)};
    Link link;
    if (step.transport == HandshakeMessage.SHM) {
      link =
          new ShmLink(
              connection, handshake.channel(), step.mapping, !handshake.dialled(), capacity);
      files.remove(step.file); // the other side has mapped it, and taken its name away
    } else if (step.transport == HandshakeMessage.UCX) {
      link =
          network.link(
              connection, pair.peer.id(), step.number, handshake.channel(), step.why, capacity);
    } else {
      link =
          new TcpLink(
              connection,
              handshake.channel(),
              handshake.wire(),
              handshake.rest(),
              whyStream(handshake, step),
              capacity,
              capacity);
    }
    start(connection, link, pair);
  }

  private String whyStream(NodeHandshake handshake, Step step) {
    String why = step.why;
    if (handshake.dialled() && (step.offered & HandshakeMessage.UCX) != 0) {
      why += "; not by ucx: the other side does not";
    }
    return options.isEncrypted() && !step.local ? why + ", encrypted" : why;
  }

  private void leaveHandshakes(NodeHandshake handshake) throws IOException {
    handshakes.remove(handshake);
    SelectionKey registered = handshake.channel().keyFor(selector);
    if (registered != null) {
      registered.cancel();
    }
    Step step = (Step) handshake.attachment;
    step.pair.accepting = null;
    if (step.pair.dial == handshake) {
      step.pair.dial = null;
      step.pair.pairing.dialEnded();
    }
  }

  private void giveBack(Step step) {
    if (step.mapping != null) {
      step.mapping.close();
      step.mapping = null;
      files.remove(step.file);
    }
  }

  /** A handshake comes to nothing. */
  private void end(NodeHandshake handshake, String why) {
    if (!handshakes.remove(handshake)) {
      return;
    }
    Step step = (Step) handshake.attachment;
    handshake.close();
    giveBack(step);
    Pair pair = step.pair;
    if (pair != null && pair.accepting == handshake) {
      pair.accepting = null;
      dialIfWanted(pair);
    }
    if (pair != null && pair.dial == handshake) {
      pair.dial = null;
      pair.pairing.dialEnded();
      if (why != null) {
        unreachable(pair, Code.UNREACHABLE, why);
      }
    }
  }

  private void unreachable(Pair pair, Code code, String why) {
    pair.dial = null;
    RemotePeer peer = pair.peer;
    peer.unreachable(new MessagingException(code, why));
    if (!pair.toldUnreachable) {
      pair.toldUnreachable = true;
      node.unreachable(peer, why);
    }
    long now = System.nanoTime();
    pair.retryNs = now + pair.backoffNs - pair.backoffNs * (order.get() & 7) / 32;
    pair.backoffNs = Math.min(LAST_RETRY_NS, pair.backoffNs * 2);
    wantedNoMore(pair);
  }

  /** Forgets that it was wanted; whoever waits wants it anew. */
  private void wantedNoMore(Pair pair) {
    pair.wanted = false;
    pair.peer.requested.set(false);
    VarHandle.fullFence();
    if (pair.peer.somebodyWaits()) {
      want(pair.peer);
    }
  }

  // ---- connections

  private Connection newConnection(
      Pair pair,
      int number,
      long with,
      HandshakeMessage.Offer theirs,
      HandshakeMessage.Forms forms) {
    List<String> names = theirs.names();
    TypeEntry[] types = new TypeEntry[names.size()];
    String[] misfits = new String[types.length];
    for (int i = 0; i < types.length; i++) {
      TypeEntry own = node.types().named(names.get(i));
      String form = forms.byType().get(i);
      if (own != null && own.fingerprint == theirs.fingerprints().get(i)) {
        types[i] = own;
      } else if (own != null && !own.explicit && form != null) {
        try {
          types[i] = node.types().adapted(own, form);
        } catch (IllegalArgumentException | LinkageError e) {
          misfits[i] = e.getMessage();
        }
      }
    }
    return new Connection(
        node,
        pair.peer,
        number,
        with,
        types,
        names.toArray(String[]::new),
        misfits,
        theirs.maxMessageBytes());
  }

  private void start(Connection connection, Link link, Pair pair) {
    connection.runOn(link);
    RemotePeer peer = pair.peer;
    connection.predecessor = peer.connection();
    pair.wanted = false;
    pair.toldUnreachable = false;
    pair.backoffNs = FIRST_RETRY_NS;
    pair.retryNs = System.nanoTime();
    connections.put(connection, new Life());
    node.connected(connection); // before anything can be received on it
    node.poller()
        .execute(
            () -> {
              try {
                node.poller().add(connection);
              } catch (Throwable e) { // without memory it ends before it was used
                connection.failed("an error of this node: " + Thrown.text(e));
                throw e;
              }
              peer.connection(connection);
              peer.requested.set(false);
            });
    if (link.session() != null) {
      makeRoom();
    }
  }

  /** The poller has buried it. */
  void ended(Connection connection) {
    Pair pair = pair(connection.peer.id());
    pair.pairing.ended(connection.number);
    if (connection.peer.connection() == connection) {
      connection.peer.connection(null);
    }
    wantedNoMore(pair); // it may have been wanted when it was about to be there
    long limit = System.nanoTime() + QUIET_NS;
    closeWhenQuiet(connection, limit);
  }

  private void closeWhenQuiet(Connection connection, long limitNs) {
    if (connection.sender().quiet() || System.nanoTime() - limitNs > 0) {
      connections.remove(connection);
      connection.link().close();
    } else {
      at(System.nanoTime() + 10_000_000, () -> closeWhenQuiet(connection, limitNs));
    }
  }

  /** Too many: the one that was idle for longest is asked to go. */
  private void makeRoom() {
    int count = 0;
    Connection longest = null;
    long since = Long.MAX_VALUE;
    for (Map.Entry<Connection, Life> each : connections.entrySet()) {
      Connection connection = each.getKey();
      if (connection.link().session() == null || connection.dead() || connection.leaving) {
        continue;
      }
      count++;
      if (connection.idle()
          && !node.responseSlots().any(connection)
          && each.getValue().usedNs < since) {
        since = each.getValue().usedNs;
        longest = connection;
      }
    }
    if (count > options.maxConnections() && longest != null) {
      longest.leaving = true;
      Life life = connections.get(longest);
      life.leaveNs = System.nanoTime() + LEAVE_NS;
      longest.control(Records.GOODBYE, 0, 0);
      Connection asked = longest;
      at(life.leaveNs, () -> noResponse(asked, life));
    }
  }

  /** Whoever does not answer GOODBYE stays. */
  private void noResponse(Connection connection, Life life) {
    if (!life.left) {
      connection.leaving = false;
      node.wakePoller();
    }
  }

  /** GOODBYE or STAY came. */
  void heard(Connection connection, byte kind) {
    Life life = connections.get(connection);
    if (life == null || connection.dead() || life.left) {
      return;
    }
    if (kind == Records.STAY) {
      connection.leaving = false;
      life.usedNs = System.nanoTime();
    } else if (connection.leaving) {
      leave(connection, life);
    } else if (connection.idle() && !node.responseSlots().any(connection)) {
      connection.leaving = true;
      leave(connection, life);
    } else {
      connection.control(Records.STAY, 0, 0);
    }
  }

  private void leave(Connection connection, Life life) {
    life.left = true;
    connection.agreeToPart();
    life.leaveNs = System.nanoTime() + PART_NS;
    leaveWhenDrained(connection, life);
  }

  private void leaveWhenDrained(Connection connection, Life life) {
    if (connection.dead()) {
      return;
    }
    if (System.nanoTime() - life.leaveNs > 0) {
      node.pollerShallDrop(connection, "idle, and the limit of connections was reached");
      return;
    }
    if (!life.finished && connection.parted()) {
      life.finished = true;
      connection.link().finishOutput(); // the other side does the same, and both find the end
    }
    node.wakePoller();
    at(System.nanoTime() + 1_000_000, () -> leaveWhenDrained(connection, life));
  }

  private void tick() {
    long now = System.nanoTime();
    at(now + TICK_NS, this::tick); // first: whatever happens, there is a next one
    for (Map.Entry<Connection, Life> each : connections.entrySet()) {
      Connection connection = each.getKey();
      if (connection.link().session() != null && !connection.dead()) {
        tick(connection, each.getValue(), now);
      }
    }
    node.lookAfterTasks();
    node.responseSlots().sweep();
    makeRoom(); // who was asked before may have had something open
    if (stallDetector.look()) {
      at(System.nanoTime() + StallDetector.OPEN_NS, stallDetector::lookAgain); // from that look on
    }
    show();
  }

  /** Keeps the counters file up to date; a node works without it, too. */
  private void show() {
    if (fileFailed || node.closing()) {
      return;
    }
    try {
      if (file == null) {
        Path run = options.runDirectory();
        Path directory = run == null ? standard("talaria.dir", "/tmp/talaria-") : run;
        Reason reason = new PrivateDirectory(directory, Reason.NO_RUNTIME_DIR).prepare();
        if (reason != null) {
          fileFailed = true;
          return;
        }
        file = NodeFile.of(directory, Announcement.number(cluster, options.id()));
      }
      file.write(PublishedState.line(node, connections.keySet(), this::silentNs));
    } catch (IOException e) {
      fileFailed = true;
      node.internal("counters file", e);
    }
  }

  private long silentNs(Connection connection) {
    Life life = connections.get(connection);
    return life == null ? 0 : life.liveness.ns();
  }

  private void tick(Connection connection, Life life, long now) {
    long activity = connection.activity();
    if (activity != life.activity) {
      life.activity = activity;
      life.usedNs = now;
    }
    boolean heard = connection.heard;
    long silent = life.liveness.look(heard, now);
    if (heard) {
      connection.heard = false;
      life.suspect = false;
      return;
    }
    if (!node.looksAfterPeers()) {
      return;
    }
    if (silent > GIVE_UP_NS) {
      node.quiet(connection, silent);
      node.pollerShallDrop(
          connection, "nothing was heard of it for " + silent / 1_000_000_000 + " s");
    } else if (silent > SUSPECT_NS && !life.suspect) {
      life.suspect = true;
      node.quiet(connection, silent);
      node.suspect(connection.peer, silent);
    }
    if (silent > PING_NS) {
      connection.control(Records.PING, 0, 0);
    }
  }

  // ---- the end

  /** Nobody is let in, and nobody found, from now on. Any thread. */
  void closeListeners() {
    if (announcement != null) {
      announcement.close();
    }
    closeQuietly(tcp);
    selector.wakeup();
  }

  void stopSoon() {
    stopped = true;
    selector.wakeup();
  }

  private static void closeQuietly(ServerSocketChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // It is gone.
    }
  }

  private void closeNow() {
    closeListeners();
    for (NodeHandshake each : List.copyOf(handshakes)) {
      end(each, null);
    }
    if (node.poller() != null) {
      node.poller().stopSoon();
      joinPoller();
    }
    for (Connection each : connections.keySet()) {
      if (!each.dead()) {
        each.bury("this node was closed");
      }
      each.link().close();
    }
    connections.clear();
    node.closeNetwork();
    for (RemotePeer peer : node.remotes()) {
      peer.connection(null);
    }
    files.removeAll();
    if (file != null) {
      file.remove();
    }
    try {
      selector.close();
    } catch (IOException e) {
      // It was for this thread alone.
    }
  }

  private void joinPoller() {
    try {
      if (Thread.currentThread() != node.poller()) {
        node.poller().join(LEAVE_NS / 1_000_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

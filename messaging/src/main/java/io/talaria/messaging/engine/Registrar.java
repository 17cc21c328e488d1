// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.counters.NodeFile;
import io.talaria.messaging.link.Announcement;
import io.talaria.messaging.link.Greet;
import io.talaria.messaging.link.Greeting;
import io.talaria.messaging.link.Pairing;
import io.talaria.messaging.transport.Fabric;
import io.talaria.messaging.transport.LoopTrack;
import io.talaria.messaging.transport.ShmLayout;
import io.talaria.messaging.transport.ShmTrack;
import io.talaria.messaging.transport.TcpTrack;
import io.talaria.messaging.transport.Track;
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
import java.nio.charset.StandardCharsets;
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
 * was asked for. It blocks on no peer: each step of a greeting is non-blocking and has a deadline.
 */
final class Registrar extends Thread {
  private static final long GREETING_NS = 5_000_000_000L;

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

    Greeting dial;

    /** Was answered with WELCOME, and is not ready yet. */
    Greeting accepting;

    Pair(RemotePeer peer, Pairing pairing) {
      this.peer = peer;
      this.pairing = pairing;
    }
  }

  /** What one greeting has come to. */
  private static final class Step {
    Pair pair;
    Greet.Hello hello;
    boolean connecting;
    boolean local;

    /** That was dialled, or null. */
    InetSocketAddress address;

    /** The transports that this side has said it takes, bits of {@link Greet}. */
    int offered;

    int number;
    int transport;
    long file;
    Mapping mapping;
    String why = TCP_WITHOUT_SHM;
  }

  private static final class Life {
    final Silence silence = new Silence(System.nanoTime());
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
  private final Set<Greeting> greetings = new LinkedHashSet<>();
  private final Map<Connection, Life> connections = new ConcurrentHashMap<>();
  private final PrivateDirectory shmDirectory;
  private final SharedFiles files;
  private final long incarnation = new SecureRandom().nextLong();
  private final long cluster;
  private final byte[] key;
  private final Greet.Offer offer;

  /** Or null. */
  private final Fabric fabric;

  private final Announcement announcement;
  private final ServerSocketChannel tcp;
  private final Stalls stalls;
  private NodeFile file;
  private boolean fileFailed;
  private volatile boolean stopped;

  Registrar(LocalNode node) throws IOException {
    super(node.threadName("registrar"));
    setDaemon(true);
    this.node = node;
    options = node.options();
    stalls = new Stalls(node);
    cluster = hash(options.cluster());
    key = options.key() == null ? null : HostKey.read(options.key());
    if (options.isEncrypted() && key == null) {
      throw new IllegalArgumentException("encrypted() needs a key: call NodeOptions.key");
    }
    offer = offer();
    fabric = node.fabric();
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
      if (options.transports().contains(Transport.SHM) || fabric != null) {
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

  private Greet.Offer offer() {
    List<TypeEntry> entries = node.types().entries();
    List<String> names = entries.stream().map(TypeEntry::name).toList();
    List<Long> fingerprints = entries.stream().map(each -> each.fingerprint).toList();
    return new Greet.Offer(
        Host.pid(),
        options.maxMessageBytes(),
        options.dataRingBytes(),
        options.controlRingBytes(),
        names,
        fingerprints);
  }

  private static long hash(String text) {
    long hash = 0xcbf29ce484222325L;
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (each & 0xff)) * 0x100000001b3L;
    }
    return hash;
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
        node.internal("registrar", e); // and goes on: without it, nobody is found or given up
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
    if (key.attachment() instanceof Greeting greeting) {
      if (key.isValid()) {
        step(greeting);
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
        Connection loop = newConnection(pair, 1, incarnation, offer, Greet.Forms.NONE);
        start(loop, new LoopTrack(loop, options.dataRingBytes(), options.controlRingBytes()), pair);
        return;
      }
      Step step = new Step();
      step.pair = pair;
      SocketChannel channel = connect(pair, step);
      if (channel != null) {
        greet(pair, step, channel);
      }
    } catch (Throwable e) { // of the program's directory, too: tried again when it is wanted
      String why = why(pair, e);
      Greeting dial = pair.dial;
      if (dial != null && greetings.contains(dial)) {
        end(dial, why);
      } else {
        unreachable(pair, Code.UNREACHABLE, why);
      }
    }
  }

  private void greet(Pair pair, Step step, SocketChannel channel) throws IOException {
    boolean begun = false;
    try {
      Greeting greeting =
          new Greeting(
              channel, true, step.local || step.connecting ? null : key, options.isEncrypted());
      greeting.attachment = step;
      pair.dial = greeting;
      begin(greeting, step.connecting ? SelectionKey.OP_CONNECT : SelectionKey.OP_READ);
      begun = true;
      if (!step.connecting) {
        sayHello(greeting, step);
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
    node.internal(pair == null ? "greeting" : "connecting to " + pair.peer, thrown);
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
                  : fabric == null
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

  /** That may take long, and the registrar waits for nobody. */
  private void resolve(Pair pair, InetSocketAddress address) {
    Thread unused =
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

  private void begin(Greeting greeting, int interest) throws IOException {
    if (isStranger(greeting)) {
      List<Greeting> strangers = greetings.stream().filter(Registrar::isStranger).toList();
      if (strangers.size() >= MAX_STRANGERS) {
        end(strangers.getFirst(), "too many greetings at a time");
      }
    }
    greeting.deadlineNs = System.nanoTime() + GREETING_NS;
    greetings.add(greeting);
    SelectionKey unused = greeting.channel().register(selector, interest, greeting);
    at(greeting.deadlineNs, () -> expired(greeting));
  }

  /** What has come by now counts: it may be this thread that is late. */
  private void expired(Greeting greeting) {
    if (greetings.contains(greeting)) {
      try {
        step(greeting);
      } finally {
        end(greeting, "no response within 5 s");
      }
    }
  }

  private static boolean isStranger(Greeting greeting) {
    return !greeting.dialled() && !((Step) greeting.attachment).local;
  }

  private void sayHello(Greeting greeting, Step step) throws IOException {
    Pair pair = step.pair;
    if (greeting.proved()) {
      int transports = transports(step.local);
      byte[] way = (transports & Greet.UCX) == 0 ? new byte[0] : fabric.offer(pair.peer.id());
      step.offered = way.length == 0 ? transports & ~Greet.UCX : transports;
      greeting.send(
          new Greet.Hello(
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
    flush(greeting);
  }

  /** The transports that a session can lead to here, bits of {@link Greet}. */
  private int transports(boolean local) {
    Set<Transport> own = options.transports();
    int transports = own.contains(Transport.TCP) ? Greet.TCP : 0;
    if (local && own.contains(Transport.SHM)) {
      transports |= Greet.SHM;
    }
    if (fabric != null && (local || unfitBetweenHosts() == null)) {
      transports |= Greet.UCX;
    }
    return transports;
  }

  /** Why transport ucx is not used on sessions by TCP, or null. */
  private String unfitBetweenHosts() {
    if (fabric == null) {
      return node.fabricObstacle();
    }
    if (options.isEncrypted()) {
      return "what UCX carries is not encrypted";
    }
    // Its addresses are parsed by UCX, which trusts them.
    return key == null && !options.isInsecure() ? "there is no key" : null;
  }

  private void flush(Greeting greeting) throws IOException {
    boolean all = greeting.flush();
    SelectionKey registered = greeting.channel().keyFor(selector);
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
        Greeting greeting =
            new Greeting(channel, false, step.local ? null : key, options.isEncrypted());
        greeting.attachment = step;
        begin(greeting, SelectionKey.OP_READ);
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

  // ---- greetings

  private void step(Greeting greeting) {
    Step step = (Step) greeting.attachment;
    try {
      if (step.connecting) {
        connected(greeting, step);
        return;
      }
      boolean came = true;
      while (came && greetings.contains(greeting)) {
        came = greeting.fill();
        if (!greeting.prove()) {
          flush(greeting);
          continue;
        }
        if (greeting.dialled() && step.number == 0) {
          sayHello(greeting, step);
        }
        ByteBuffer frame = greeting.frame();
        if (frame != null) {
          came = true;
          frame(greeting, step, frame);
        }
      }
      if (greetings.contains(greeting)) {
        flush(greeting);
      }
    } catch (Throwable e) {
      end(greeting, why(step.pair, e));
    }
  }

  private void connected(Greeting greeting, Step step) throws IOException {
    try {
      if (!greeting.channel().finishConnect()) {
        return;
      }
    } catch (IOException e) {
      throw new IOException(
          "node " + step.pair.peer.id() + " at " + text(step.address) + ": " + e.getMessage(), e);
    }
    greetings.remove(greeting);
    Greeting proving = new Greeting(greeting.channel(), true, key, options.isEncrypted());
    step.connecting = false;
    proving.attachment = step;
    step.pair.dial = proving;
    begin(proving, SelectionKey.OP_READ);
    sayHello(proving, step);
  }

  private void frame(Greeting greeting, Step step, ByteBuffer frame) throws IOException {
    byte kind = frame.get();
    if (greeting.dialled()) {
      switch (kind) {
        case Greet.WELCOME -> welcomed(greeting, step, Greet.Welcome.of(frame));
        case Greet.REJECT -> rejected(greeting, step, frame);
        default -> throw new IOException("a frame of kind " + kind + " answers HELLO");
      }
    } else if (step.hello == null && kind == Greet.HELLO) {
      step.hello = Greet.Hello.of(frame);
      hello(greeting, step);
    } else if (kind == Greet.READY && step.transport != 0) {
      readied(greeting, step, Greet.forms(frame));
    } else {
      throw new IOException("a frame of kind " + kind + " at the wrong time");
    }
  }

  private void hello(Greeting greeting, Step step) throws IOException {
    Greet.Hello hello = step.hello;
    if (hello.cluster() != cluster) {
      reject(greeting, Greet.REJECT_OTHER, "it is a node of another cluster");
      return;
    }
    if (hello.to() != options.id() || hello.from() == options.id()) {
      reject(
          greeting,
          Greet.REJECT_OTHER,
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
      reject(greeting, Greet.REJECT_FULL, "the node is closing");
      return;
    }
    step.pair = pair(hello.from());
    decide(greeting, step);
  }

  private void decide(Greeting greeting, Step step) throws IOException {
    Pair pair = step.pair;
    Greet.Hello hello = step.hello;
    Connection there = pair.peer.connection();
    switch (pair.pairing.onHello(hello.incarnation(), hello.heard())) {
      case ACCEPT -> welcome(greeting, step);
      case REPLACE -> {
        forget(pair, "the other side has lost the connection, and made a new one");
        welcome(greeting, step);
      }
      case REFUSE_OWN_DIAL -> reject(greeting, Greet.REJECT_DUPLICATE, "both dialled at once");
      case REFUSE_LATE -> {
        if (there != null) {
          there.control(Records.PING, 0, 0);
        }
        reject(greeting, Greet.REJECT_DUPLICATE, "there is a connection already");
      }
      case ASK -> {
        if (there == null) {
          pair.pairing.ended(pair.pairing.heard());
          welcome(greeting, step);
          return;
        }
        there.heard = false;
        there.control(Records.PING, 0, 0);
        at(System.nanoTime() + ASK_NS, () -> asked(greeting, step, there));
      }
    }
  }

  /** After a second: does the connection that has this id live? */
  private void asked(Greeting greeting, Step step, Connection there) {
    if (!greetings.contains(greeting)) {
      return;
    }
    try {
      if (there.dead() || !there.heard) {
        forget(step.pair, "another process has its id");
        welcome(greeting, step);
      } else {
        reject(
            greeting,
            Greet.REJECT_ID,
            "id " + step.hello.from() + " is in use by another process that lives");
      }
      flush(greeting);
    } catch (Throwable e) {
      end(greeting, why(step.pair, e));
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

  private void reject(Greeting greeting, byte code, String why) throws IOException {
    greeting.send(Greet.reject(code, why));
    boolean unused = greeting.flush();
    end(greeting, null);
  }

  private void welcome(Greeting greeting, Step step) throws IOException {
    Pair pair = step.pair;
    Greet.Hello hello = step.hello;
    Greeting own = pair.dial;
    if (own != null) {
      end(own, null); // it gives way
    }
    Greeting before = pair.accepting;
    pair.accepting = greeting;
    if (before != null) {
      end(before, null); // its caller has given it up
    }
    step.number = pair.pairing.nextNumber(hello.heard());
    step.offered = transports(step.local);
    int common = step.offered & hello.transports();
    ByteBuffer way = NOTHING;
    if (step.local && (common & Greet.SHM) != 0) {
      try {
        share(step, hello.offer());
      } catch (TransportException e) {
        reject(greeting, Greet.REJECT_FULL, e.getMessage());
        return;
      }
    } else {
      step.why = step.local ? "same host" : "accepted by TCP";
      if ((common & Greet.UCX) != 0) {
        try {
          way = acceptByFabric(step);
        } catch (IOException e) {
          step.why += "; not by ucx: " + e.getMessage();
        }
      }
      if (step.transport == 0 && (common & Greet.TCP) == 0) {
        reject(greeting, Greet.REJECT_OTHER, "there is no transport in common" + notBy(step));
        return;
      }
      step.transport = step.transport == 0 ? Greet.TCP : step.transport;
    }
    greeting.send(
        new Greet.Welcome(
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
  private Greet.Forms differing(Greet.Offer theirs, Greet.Offer beside) {
    Map<Integer, String> forms = new HashMap<>();
    for (int i = 0; i < theirs.names().size(); i++) {
      TypeEntry own = node.types().named(theirs.names().get(i));
      long fingerprint = theirs.fingerprints().get(i);
      if (own != null && own.form != null && fingerprint != 0 && own.fingerprint != fingerprint) {
        forms.put(own.index, own.form);
      }
    }
    return Greet.Forms.of(forms, beside);
  }

  private void share(Step step, Greet.Offer theirs) throws TransportException {
    step.transport = Greet.SHM;
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

  private ByteBuffer acceptByFabric(Step step) throws IOException {
    byte[] response =
        fabric.accept(
            step.pair.peer.id(), step.hello.incarnation(), incarnation, bytes(step.hello.fabric()));
    step.transport = Greet.UCX;
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
  private int dataRingBytes(Greet.Offer other) {
    return Math.min(offer.dataRingBytes(), other.dataRingBytes());
  }

  private int controlRingBytes(Greet.Offer other) {
    return Math.min(offer.controlRingBytes(), other.controlRingBytes());
  }

  private int shmBytes(Greet.Offer other) {
    return ShmLayout.bytes(dataRingBytes(other), controlRingBytes(other));
  }

  private void welcomed(Greeting greeting, Step step, Greet.Welcome welcome) throws IOException {
    step.number = welcome.number();
    step.transport = welcome.transport();
    if (Integer.bitCount(step.transport) != 1 || (step.transport & step.offered) == 0) {
      throw new IOException("transport " + step.transport + " was not offered");
    }
    if (step.transport == Greet.UCX) {
      fabric.accepted(step.pair.peer.id(), welcome.incarnation(), bytes(welcome.fabric()));
    } else if (step.transport == Greet.SHM) {
      try {
        step.mapping = files.open(welcome.file(), shmBytes(welcome.offer()), welcome.offer().pid());
      } catch (TransportException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
    greeting.send(Greet.ready(differing(welcome.offer(), null)));
    if (!greeting.flush()) {
      throw new IOException("the other side does not read");
    }
    establish(greeting, step, welcome.incarnation(), welcome.offer(), welcome.forms());
  }

  private void rejected(Greeting greeting, Step step, ByteBuffer frame) throws IOException {
    byte code = frame.get();
    String text = Greet.rejectText(frame);
    Pair pair = step.pair;
    end(greeting, null);
    if (code == Greet.REJECT_DUPLICATE) {
      // The other's dial comes, or not: then ours is tried again.
      pair.retryNs = System.nanoTime() + FIRST_RETRY_NS;
      at(pair.retryNs, () -> dialIfWanted(pair));
    } else {
      unreachable(pair, Code.REFUSED, "node " + pair.peer.id() + " refuses: " + text);
    }
  }

  private void readied(Greeting greeting, Step step, Greet.Forms forms) throws IOException {
    establish(greeting, step, step.hello.incarnation(), step.hello.offer(), forms);
  }

  private void establish(
      Greeting greeting, Step step, long with, Greet.Offer theirs, Greet.Forms forms)
      throws IOException {
    Pair pair = step.pair;
    leaveGreetings(greeting);
    try {
      if (pair.pairing.established(step.number, with)) {
        begin(greeting, step, with, theirs, forms);
        return;
      }
    } catch (Throwable e) {
      pair.pairing.ended(step.number);
      unreachable(pair, Code.UNREACHABLE, why(pair, e));
    }
    greeting.close();
    giveBack(step);
  }

  private void begin(Greeting greeting, Step step, long with, Greet.Offer theirs, Greet.Forms forms)
      throws IOException {
    Pair pair = step.pair;
    Connection connection = newConnection(pair, step.number, with, theirs, forms);
    int[] capacity = {dataRingBytes(theirs), controlRingBytes(theirs)};
    Track track;
    if (step.transport == Greet.SHM) {
      track =
          new ShmTrack(connection, greeting.channel(), step.mapping, !greeting.dialled(), capacity);
      files.remove(step.file); // the other side has mapped it, and taken its name away
    } else if (step.transport == Greet.UCX) {
      track =
          fabric.track(
              connection, pair.peer.id(), step.number, greeting.channel(), step.why, capacity);
    } else {
      track =
          new TcpTrack(
              connection,
              greeting.channel(),
              greeting.wire(),
              greeting.rest(),
              whyStream(greeting, step),
              capacity,
              capacity);
    }
    start(connection, track, pair);
  }

  private String whyStream(Greeting greeting, Step step) {
    String why = step.why;
    if (greeting.dialled() && (step.offered & Greet.UCX) != 0) {
      why += "; not by ucx: the other side does not";
    }
    return options.isEncrypted() && !step.local ? why + ", encrypted" : why;
  }

  private void leaveGreetings(Greeting greeting) throws IOException {
    greetings.remove(greeting);
    SelectionKey registered = greeting.channel().keyFor(selector);
    if (registered != null) {
      registered.cancel();
    }
    Step step = (Step) greeting.attachment;
    step.pair.accepting = null;
    if (step.pair.dial == greeting) {
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

  /** A greeting comes to nothing. */
  private void end(Greeting greeting, String why) {
    if (!greetings.remove(greeting)) {
      return;
    }
    Step step = (Step) greeting.attachment;
    greeting.close();
    giveBack(step);
    Pair pair = step.pair;
    if (pair != null && pair.accepting == greeting) {
      pair.accepting = null;
      dialIfWanted(pair);
    }
    if (pair != null && pair.dial == greeting) {
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
      Pair pair, int number, long with, Greet.Offer theirs, Greet.Forms forms) {
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

  private void start(Connection connection, Track track, Pair pair) {
    connection.runOn(track);
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
    if (track.session() != null) {
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
    if (connection.outlet().quiet() || System.nanoTime() - limitNs > 0) {
      connections.remove(connection);
      connection.track().close();
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
      if (connection.track().session() == null || connection.dead() || connection.leaving) {
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
      connection.track().finishOutput(); // the other side does the same, and both find the end
    }
    node.wakePoller();
    at(System.nanoTime() + 1_000_000, () -> leaveWhenDrained(connection, life));
  }

  private void tick() {
    long now = System.nanoTime();
    at(now + TICK_NS, this::tick); // first: whatever happens, there is a next one
    for (Map.Entry<Connection, Life> each : connections.entrySet()) {
      Connection connection = each.getKey();
      if (connection.track().session() != null && !connection.dead()) {
        tick(connection, each.getValue(), now);
      }
    }
    node.lookAfterTasks();
    node.responseSlots().sweep();
    makeRoom(); // who was asked before may have had something open
    if (stalls.look()) {
      at(System.nanoTime() + Stalls.OPEN_NS, stalls::lookAgain); // from that look on
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
      file.write(Shown.line(node, connections.keySet(), this::silentNs));
    } catch (IOException e) {
      fileFailed = true;
      node.internal("counters file", e);
    }
  }

  private long silentNs(Connection connection) {
    Life life = connections.get(connection);
    return life == null ? 0 : life.silence.ns();
  }

  private void tick(Connection connection, Life life, long now) {
    long activity = connection.activity();
    if (activity != life.activity) {
      life.activity = activity;
      life.usedNs = now;
    }
    boolean heard = connection.heard;
    long silent = life.silence.look(heard, now);
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
    for (Greeting each : List.copyOf(greetings)) {
      end(each, null);
    }
    if (node.poller() != null) {
      node.poller().stopSoon();
      joinPoller();
    }
    for (Connection each : connections.keySet()) {
      if (!each.dead()) {
        long unused = each.bury("this node was closed");
      }
      each.track().close();
    }
    connections.clear();
    node.closeFabric();
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

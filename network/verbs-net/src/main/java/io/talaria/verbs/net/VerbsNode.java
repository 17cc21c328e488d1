// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.nio.transport.KeepAlive;
import io.talaria.verbs.Access;
import io.talaria.verbs.AsyncEvent;
import io.talaria.verbs.Context;
import io.talaria.verbs.Device;
import io.talaria.verbs.DeviceAttributes;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.Path;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.VerbsException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A device with threads that send and receive: where connections come from. Usable by any thread.
 *
 * <p>Connections are set up by an exchange over TCP, or by RDMA CM ({@link
 * NetOptions.Builder#rdmaCm}), which both sides prove to have the same key for if there is a key
 * file; without one, only on the loopback interface. What has set a connection up stays, without
 * traffic: when it ends, the peer is gone.
 *
 * <pre>{@code
 * try (VerbsNode node = VerbsNode.open(NetOptions.builder().keyFile(file).build())) {
 *   node.listen(new InetSocketAddress(7000), handler);
 *   Connection connection = node.connect(new InetSocketAddress("other", 7000), handler);
 *   Slice slice = connection.awaitSlice(1_000_000_000L);
 *   slice.memory().set(ValueLayout.JAVA_LONG, 0, 42);
 *   if (connection.send(slice, 8) == Connection.BACK_PRESSURED) ...
 * }
 * }</pre>
 */
public final class VerbsNode implements AutoCloseable {
  /** Requests of a connection that only give credit: see docs/verbs-net.md. */
  static final int CREDIT_SLOTS = 2 + LargeMessages.MAX_MESSAGES;

  /** Places of completion queues for connections that are just ending. */
  static final int SPARE = 4;

  private static final System.Logger LOG = NetThread.LOG;

  /** Nodes whose context is RDMA CM's, and so perhaps of several. */
  private static final Set<VerbsNode> SHARING = ConcurrentHashMap.newKeySet();

  private static final int MAX_HANDSHAKES = 64;
  private static final int MAX_READS = 16;
  private static final int BACKLOG = 512;
  private static final long ENDING_NS = 10_000_000_000L;
  private static final long BLOCKED_NS = 1_000_000_000L;

  final NetOptions options;
  final Context context;
  final ProtectionDomain domain;
  final int sendDepth;
  final int queuePairDepth;

  /** How many receive requests each connection is promised. */
  final int promised;

  /** From how many posted requests on the peer is told. */
  final int creditThreshold;

  final LargeBuffers largeBuffers;
  final LongAdder creditStalls = new LongAdder();
  final LongAdder roomStalls = new LongAdder();
  final LongAdder sliceStalls = new LongAdder();
  private final LongAdder opened = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder blocked = new LongAdder();
  private final long id = Exchange.node();
  private final int port;
  private final int gidIndex;
  private final int mtuBytes;
  private final int reads;
  private final int readsOut;
  private final Access[] remote;
  private final List<SendThread> sendThreads = new ArrayList<>();
  private final List<ReceiveThread> receiveThreads = new ArrayList<>();
  private final int perSendThread;
  private final int perReceiveThread;
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private final Set<RegisteredMemory> memories = ConcurrentHashMap.newKeySet();

  /** Held for reading while memory is registered, which takes long: closing waits for it. */
  private final ReadWriteLock allocating = new ReentrantReadWriteLock();

  private final Set<ServerSocketChannel> listeners = ConcurrentHashMap.newKeySet();
  private final Set<SocketChannel> handshakes = ConcurrentHashMap.newKeySet();
  private final Semaphore acceptable = new Semaphore(MAX_HANDSHAKES);
  private final ScheduledThreadPoolExecutor clock;

  /** Null: connections are set up by TCP. */
  private final CmConnector cm;

  /** Guarded by this, like who is assigned to which thread. */
  private int nextSerial;

  private final int[] sending;
  private volatile boolean closed;
  private volatile String lost;

  private VerbsNode(NetOptions options) {
    this.options = options;
    port = options.port();
    sendDepth = Integer.highestOneBit(options.sendDepth() * 2 - 1);
    queuePairDepth = sendDepth + CREDIT_SLOTS + 1;
    promised = options.window() + CREDIT_SLOTS;
    creditThreshold = (options.window() + 1) / 2;
    perSendThread = share(options.connections(), options.sendThreads());
    perReceiveThread = share(options.connections(), options.receiveThreads());
    sending = new int[options.sendThreads()];
    clock =
        new ScheduledThreadPoolExecutor(
            1, task -> Thread.ofPlatform().daemon().name("talaria-verbs-clock").unstarted(task));
    clock.setRemoveOnCancelPolicy(true);
    clock.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    context = options.rdmaCm() ? CmConnector.context(options.device()) : open(options.device());
    ProtectionDomain made = null;
    try {
      DeviceAttributes device = context.attributes();
      check(device);
      gidIndex = gidIndex();
      mtuBytes = context.port(port).activeMtuBytes();
      reads = Math.clamp(device.maxReadsIn(), 0, MAX_READS);
      readsOut = Math.clamp(device.maxReadsOut(), 0, MAX_READS);
      remote =
          device.atomics() == DeviceAttributes.Atomics.NONE
              ? new Access[] {Access.REMOTE_READ, Access.REMOTE_WRITE}
              : new Access[] {Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC};
      made = context.protectionDomain();
      domain = made;
      largeBuffers = new LargeBuffers(domain, options.largeMemoryBytes());
      for (int i = 0; i < options.sendThreads(); i++) {
        sendThreads.add(new SendThread(this, i, perSendThread));
      }
      for (int i = 0; i < options.receiveThreads(); i++) {
        receiveThreads.add(new ReceiveThread(this, i, perReceiveThread));
      }
      cm = options.rdmaCm() ? new CmConnector(this) : null;
    } catch (RuntimeException | Error e) {
      receiveThreads.forEach(ReceiveThread::release);
      sendThreads.forEach(SendThread::release);
      if (made != null) {
        made.close();
      }
      closeContext();
      throw e;
    }
  }

  /** RDMA CM's contexts are never closed. */
  private void closeContext() {
    if (!context.borrowed()) {
      context.close();
    }
  }

  /**
   * Opens a device, registers memory and starts the threads.
   *
   * @param options its configuration
   * @return a node, to be closed
   * @throws VerbsException if the library refuses; for the limits of locked memory and of the JVM's
   *     direct memory the message says what to do
   * @throws java.util.NoSuchElementException if there is no such device
   * @throws IllegalArgumentException if the device cannot do as much as the options ask for
   * @throws io.talaria.ffi.MissingLibraryException if libibverbs is not installed, or librdmacm and
   *     RDMA CM is asked for
   */
  public static VerbsNode open(NetOptions options) {
    return open(options, Thread::start);
  }

  /** The same; tests start threads otherwise. */
  static VerbsNode open(NetOptions options, Consumer<Thread> starter) {
    VerbsNode node = new VerbsNode(options);
    try {
      Future<?> ignored = node.clock.scheduleWithFixedDelay(node::look, 1, 1, TimeUnit.SECONDS);
      node.sendThreads.forEach(starter);
      node.receiveThreads.forEach(starter);
      if (node.cm != null) {
        SHARING.add(node);
        node.cm.start(starter);
      }
    } catch (RuntimeException | Error e) {
      // There are too many threads, for instance: close() ends those that were started.
      node.close();
      throw e;
    }
    return node;
  }

  private static int share(int connections, int threads) {
    return (connections + threads - 1) / threads;
  }

  private static Context open(String device) {
    try (DeviceList devices = DeviceList.open()) {
      Device found = device.isEmpty() ? devices.first() : devices.named(device);
      return found.open();
    }
  }

  private void check(DeviceAttributes device) {
    atMost(queuePairDepth, device.maxQueueRequests(), "sendDepth", "requests of a queue pair");
    atMost(
        perReceiveThread * promised,
        device.maxSharedRequests(),
        "connections or window",
        "requests of a shared receive queue");
    atMost(
        2 * perReceiveThread * promised,
        device.maxCompletions(),
        "connections or window",
        "completions of a queue");
    atMost(
        (perSendThread + SPARE) * queuePairDepth,
        device.maxCompletions(),
        "connections or sendDepth",
        "completions of a queue");
    if (largeMost() > options.largeMemoryBytes()) {
      throw new IllegalArgumentException(
          "largeMemoryBytes is "
              + options.largeMemoryBytes()
              + ", but largeBytes needs "
              + largeMost());
    }
  }

  private long largeMost() {
    return LargeBuffers.sizeFor(options.largeBytes());
  }

  private static void atMost(int needed, int most, String option, String what) {
    if (needed > most) {
      throw new IllegalArgumentException(
          "the device has "
              + most
              + " "
              + what
              + ", but "
              + needed
              + " are needed: lower "
              + option
              + ", or have more threads");
    }
  }

  private int gidIndex() {
    if (options.gidIndex() >= 0) {
      return options.gidIndex();
    }
    // InfiniBand does without one.
    return context.preferredGid(port).map(entry -> entry.index()).orElse(0);
  }

  // ---- connections

  /**
   * Listens for connections.
   *
   * @param address where; port 0: any. Without a key file, of the loopback interface, unless the
   *     options are insecure. By RDMA CM an address of the device's port, or of all
   * @param handler of the connections that come
   * @return the address with the port
   * @throws IOException if the address is taken, or is no address of this host
   */
  public InetSocketAddress listen(InetSocketAddress address, ConnectionHandler handler)
      throws IOException {
    Objects.requireNonNull(handler, "handler");
    requireOpen();
    requireSecure(address);
    if (cm != null) {
      return cm.listen(address, handler);
    }
    ServerSocketChannel listener = ServerSocketChannel.open();
    try {
      listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      listener.bind(address, BACKLOG);
      listeners.add(listener);
      if (closed) {
        // close() may have looked at the listeners before.
        throw new IllegalStateException("the node is closed");
      }
      InetSocketAddress bound = (InetSocketAddress) listener.getLocalAddress();
      Thread thread =
          Thread.ofVirtual()
              .name("talaria-verbs-accept-" + bound.getPort())
              .unstarted(() -> accept(listener, handler));
      thread.start();
      return bound;
    } catch (IOException | RuntimeException e) {
      listeners.remove(listener);
      listener.close();
      throw e;
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the node is closed");
    }
    if (lost != null) {
      throw new IllegalStateException("the node is of no use any more: " + lost);
    }
  }

  private void requireSecure(InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("the address is not resolved: " + address);
    }
    if (options.key().isEmpty()
        && !options.insecure()
        && !address.getAddress().isLoopbackAddress()) {
      throw new IllegalArgumentException(
          address
              + " is not of the loopback interface: give both sides the same key file (keyFile),"
              + " or allow anybody to connect (insecure)");
    }
  }

  private void accept(ServerSocketChannel listener, ConnectionHandler handler) {
    while (listener.isOpen()) {
      try {
        SocketChannel channel = listener.accept();
        if (!mayAccept()) {
          refused();
          channel.close();
          continue;
        }
        Thread thread =
            Thread.ofVirtual()
                .name("talaria-verbs-handshake")
                .unstarted(
                    () -> {
                      try {
                        accepted(channel, handler);
                      } finally {
                        handshakeOver();
                      }
                    });
        thread.start();
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException e) {
        LOG.log(Level.WARNING, "could not accept a connection; continuing", e);
        try {
          Thread.sleep(100);
        } catch (InterruptedException interrupted) {
          return;
        }
      }
    }
  }

  private void accepted(SocketChannel channel, ConnectionHandler handler) {
    Exchange exchange = new Exchange(channel, options.key(), false);
    try {
      Connection connection = limited(channel, () -> answer(channel, exchange, handler));
      watch(connection, channel);
    } catch (IOException | RuntimeException | Error e) {
      // An error, such as of a class that is missing, must not leave the peer to its time limit.
      refused();
      LOG.log(e instanceof Error ? Level.WARNING : Level.DEBUG, "a handshake failed", e);
      exchange.refuse(String.valueOf(e.getMessage()));
      close(channel);
    }
  }

  private Connection answer(SocketChannel channel, Exchange exchange, ConnectionHandler handler)
      throws IOException {
    exchange.send(Frame.CHALLENGE, new byte[0]);
    Offer peer = Offer.of(exchange.receive(Frame.OFFER));
    Setup setup = setUp(QueuePair.Builder::open);
    Connection connection = join(setup, peer, channel, handler);
    try {
      exchange.send(Frame.ANSWER, offer(setup).toBytes());
      ByteBuffer ignored = exchange.receive(Frame.READY);
    } catch (IOException | RuntimeException | Error e) {
      connection.close(handshakeFailed(e), false);
      throw e;
    }
    connection.announce();
    return connection;
  }

  static CloseReason handshakeFailed(Throwable why) {
    return new CloseReason(CloseReason.Kind.FAILED, "the handshake failed: " + why.getMessage());
  }

  /** Whether one more handshake may be under way; {@link #handshakeOver} follows then. */
  boolean mayAccept() {
    return !closed && acceptable.tryAcquire();
  }

  void handshakeOver() {
    acceptable.release();
  }

  void refused() {
    refused.increment();
  }

  /**
   * Connects to a node that listens. Blocks for as long as the options say at most. Not in handlers
   * and listeners.
   *
   * @param address of the node. Without a key file, of the loopback interface, unless the options
   *     are insecure
   * @param handler of the connection
   * @return a connection, open
   * @throws ExchangeException if the two sides do not come together; the message says why
   * @throws IOException if there is no TCP connection, or RDMA CM has no way
   */
  public Connection connect(InetSocketAddress address, ConnectionHandler handler)
      throws IOException {
    Objects.requireNonNull(handler, "handler");
    requireOpen();
    requireSecure(address);
    if (Thread.currentThread() instanceof NetThread) {
      throw new IllegalStateException("a handler or listener must not wait, so it cannot connect");
    }
    if (cm != null) {
      return cm.connect(address, handler);
    }
    SocketChannel channel = SocketChannel.open();
    try {
      Connection connection =
          limited(
              channel,
              () -> {
                boolean ignored = channel.connect(address);
                return ask(channel, handler);
              });
      watch(connection, channel);
      return connection;
    } catch (IOException | RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }

  private Connection ask(SocketChannel channel, ConnectionHandler handler) throws IOException {
    Exchange exchange = new Exchange(channel, options.key(), true);
    ByteBuffer ignored = exchange.receive(Frame.CHALLENGE);
    Setup setup = setUp(QueuePair.Builder::open);
    Offer peer;
    try {
      exchange.send(Frame.OFFER, offer(setup).toBytes());
      peer = Offer.of(exchange.receive(Frame.ANSWER));
    } catch (IOException | RuntimeException | Error e) {
      abandon(setup);
      throw e;
    }
    Connection connection = join(setup, peer, channel, handler);
    try {
      exchange.send(Frame.READY, new byte[0]);
    } catch (IOException | RuntimeException | Error e) {
      connection.close(handshakeFailed(e), false);
      throw e;
    }
    connection.announce();
    return connection;
  }

  /** A handshake. */
  @FunctionalInterface
  private interface Handshake {
    Connection run() throws IOException;
  }

  /** Closes the channel when time is over. */
  private Connection limited(SocketChannel channel, Handshake handshake) throws IOException {
    handshakes.add(channel);
    Future<?> limit = null;
    try {
      if (closed) {
        throw new ExchangeException("the node is closed");
      }
      limit = clock.schedule(() -> close(channel), options.handshakeMs(), TimeUnit.MILLISECONDS);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      KeepAlive.enable(channel, 5, 2, 3);
      return handshake.run();
    } catch (ClosedByInterruptException e) {
      throw new ExchangeException("interrupted", e);
    } catch (ClosedChannelException e) {
      throw new ExchangeException(endOfHandshake(), e);
    } finally {
      if (limit != null) {
        boolean ignored = limit.cancel(false);
      }
      handshakes.remove(channel);
    }
  }

  /** Why the channel of a handshake was closed. */
  private String endOfHandshake() {
    if (closed) {
      return "the node is closed";
    }
    String why = lost;
    return why != null
        ? "the node is of no use any more: " + why
        : "the peer has not finished the handshake within " + options.handshakeMs() + " ms";
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "closing a channel", e);
    }
  }

  /**
   * What belongs to a connection before its peer is known.
   *
   * @param place on the threads
   * @param queuePair new
   * @param address of it, where no RDMA CM knows it
   */
  record Setup(Place place, QueuePair queuePair, QueuePairAddress address) {}

  /**
   * Which threads serve a connection, and under which number.
   *
   * @param sendThread that posts
   * @param receiveThread that calls its handler
   * @param serial of 30 bits, of no other connection
   */
  record Place(SendThread sendThread, ReceiveThread receiveThread, int serial) {}

  /** How many reads and atomics of a peer are worked on at once. */
  int reads() {
    return reads;
  }

  /** How many reads and atomics may be under way from here. */
  int readsOut() {
    return readsOut;
  }

  Offer offer(Setup setup) {
    return new Offer(
        id,
        setup.address(),
        mtuBytes,
        options.sliceBytes(),
        options.window(),
        reads,
        options.largeBytes());
  }

  Setup setUp(Function<QueuePair.Builder, QueuePair> opener) throws IOException {
    Place place = reserve();
    QueuePair queuePair = null;
    try {
      queuePair = openQueuePair(place, opener);
      if (cm != null) {
        return new Setup(place, queuePair, null);
      }
      Path path = Path.by(port, gidIndex);
      return new Setup(place, queuePair, queuePair.address(path, Exchange.packetNumber()));
    } catch (RuntimeException | Error e) {
      if (queuePair != null) {
        queuePair.close();
        place.sendThread().wake();
        place.receiveThread().wake();
      }
      leaveSending(place);
      leaveReceiving(place);
      throw e;
    }
  }

  private QueuePair openQueuePair(Place place, Function<QueuePair.Builder, QueuePair> opener) {
    QueuePair.Builder builder =
        QueuePair.rc(domain)
            .send(place.sendThread().queue, queuePairDepth)
            .receive(place.receiveThread().queue, place.receiveThread().requests)
            .inline(options.inlineBytes());
    for (int i = 0; ; i++) {
      try {
        return opener.apply(builder);
      } catch (IllegalStateException e) {
        // What closed queue pairs had reserved is free again when their thread has looked.
        if (i == 100) {
          throw e;
        }
        place.sendThread().wake();
        place.receiveThread().wake();
        try {
          Thread.sleep(10);
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          throw e;
        }
      }
    }
  }

  void abandon(Setup setup) {
    setup.queuePair().close();
    setup.place().sendThread().wake();
    setup.place().receiveThread().wake();
    leaveSending(setup.place());
    leaveReceiving(setup.place());
  }

  /** A connection of the setup, which is abandoned if there can be none. */
  Connection join(Setup setup, Offer peer, SocketChannel channel, ConnectionHandler handler) {
    Connection connection;
    try {
      connection = connection(setup, peer, () -> close(channel), handler, null);
    } catch (RuntimeException | Error e) {
      abandon(setup);
      throw e;
    }
    join(
        connection,
        () -> {
          Path path =
              Path.by(port, gidIndex)
                  .withMtu(Math.min(mtuBytes, peer.mtuBytes()))
                  .withReads(Math.min(readsOut, peer.reads()), reads);
          setup.queuePair().connect(setup.address(), peer.address(), path, remote);
        });
    return connection;
  }

  /**
   * Messages of the peer find it from now on; {@link #join} must follow. If there is no memory for
   * it, the setup is still the caller's.
   */
  Connection connection(
      Setup setup,
      Offer peer,
      Life life,
      ConnectionHandler handler,
      CompletableFuture<Void> greeting) {
    Connection connection =
        new Connection(this, setup.place(), handler, setup.queuePair(), peer, life, greeting);
    connections.add(connection);
    fillSlot(connection, connection);
    try {
      connection.receiveThread.table.add(connection);
    } catch (RuntimeException | Error e) {
      fillSlot(connection, null);
      connections.remove(connection);
      throw e;
    }
    opened.increment();
    return connection;
  }

  private synchronized void fillSlot(Connection owner, Connection content) {
    SendThread thread = owner.sendThread;
    thread.slots[owner.serial & (thread.slots.length - 1)] = content;
  }

  /** Connects the queue pair; the connection is closed if that fails. */
  void join(Connection connection, Runnable connecting) {
    try {
      connecting.run();
    } catch (RuntimeException | Error e) {
      connection.close(
          new CloseReason(CloseReason.Kind.FAILED, "connecting failed: " + e.getMessage()), false);
      throw e;
    } finally {
      connection.opened();
      // Both may have happened before this connection was among those that they close.
      String why = lost;
      if (why != null) {
        connection.close(new CloseReason(CloseReason.Kind.DEVICE, why), false);
      } else if (closed) {
        connection.close(nodeClosed(), true);
      }
    }
  }

  private synchronized Place reserve() throws IOException {
    if (closed || lost != null) {
      throw new ExchangeException("the node is closed");
    }
    int send = 0;
    int all = sending[0];
    for (int i = 1; i < sending.length; i++) {
      all += sending[i];
      if (sending[i] < sending[send]) {
        send = i;
      }
    }
    ReceiveThread receive = receiveThreads.getFirst();
    for (ReceiveThread each : receiveThreads) {
      if (each.assigned < receive.assigned) {
        receive = each;
      }
    }
    // The shares of the threads are rounded up.
    if (all == options.connections()
        || sending[send] == perSendThread
        || receive.assigned == perReceiveThread) {
      throw new ExchangeException(
          "the node has all its "
              + options.connections()
              + " connections: close some, or open it with more");
    }
    SendThread thread = sendThreads.get(send);
    int mask = thread.slots.length - 1;
    while (thread.taken.get(nextSerial & mask)) {
      nextSerial = (nextSerial + 1) & 0x3fffffff;
    }
    int serial = nextSerial;
    thread.taken.set(serial & mask);
    nextSerial = (nextSerial + 1) & 0x3fffffff;
    sending[send]++;
    receive.assigned++;
    return new Place(thread, receive, serial);
  }

  private synchronized void leaveSending(Place place) {
    SendThread thread = place.sendThread();
    thread.taken.clear(place.serial() & (thread.slots.length - 1));
    sending[sendThreads.indexOf(thread)]--;
  }

  private synchronized void leaveReceiving(Place place) {
    place.receiveThread().assigned--;
  }

  /** Its queue pair is gone, and all that its ring held. */
  void finished(Connection connection) {
    synchronized (this) {
      SendThread thread = connection.sendThread;
      int slot = connection.serial & (thread.slots.length - 1);
      thread.slots[slot] = null;
      thread.taken.clear(slot);
      sending[sendThreads.indexOf(thread)]--;
    }
    connections.remove(connection);
  }

  /** All receive requests that it has used are posted again. */
  synchronized void leaves(Connection connection) {
    connection.receiveThread.assigned--;
  }

  /** Waits for the end of the connection that has set it up. */
  private static void watch(Connection connection, SocketChannel channel) {
    Thread thread =
        Thread.ofVirtual()
            .name("talaria-verbs-life")
            .unstarted(
                () -> {
                  try {
                    int count = channel.read(ByteBuffer.allocate(1));
                    connection.lifeEnded(
                        count < 0
                            ? "the peer has closed the connection or is gone"
                            : "the peer has sent what it must not");
                  } catch (ClosedChannelException e) {
                    connection.lifeEnded("closed here");
                  } catch (IOException e) {
                    connection.lifeEnded("the peer is gone: " + e.getMessage());
                  }
                });
    try {
      thread.start();
    } catch (RuntimeException | Error e) {
      connection.close(handshakeFailed(e), false);
      throw e;
    }
  }

  // ---- memory

  /**
   * Allocates and registers memory.
   *
   * @param bytes how much, at least 1
   * @param peers what peers that have the handle may do; none: it is for this node's operations
   * @return memory, to be closed; it is closed with the node otherwise
   * @throws VerbsException if the library refuses
   */
  public RegisteredMemory allocate(long bytes, Access... peers) {
    Access[] access = new Access[peers.length + 1];
    access[0] = Access.LOCAL_WRITE;
    System.arraycopy(peers, 0, access, 1, peers.length);
    allocating.readLock().lock();
    try {
      requireOpen();
      RegisteredMemory memory = new RegisteredMemory(this, domain.allocate(bytes, access));
      memories.add(memory);
      return memory;
    } finally {
      allocating.readLock().unlock();
    }
  }

  void closed(RegisteredMemory memory) {
    memories.remove(memory);
  }

  /**
   * The number of this node.
   *
   * @return a random number, as peers see it
   */
  public long id() {
    return id;
  }

  // ---- looking

  /** Each second. */
  private void look() {
    try {
      long nowNs = System.nanoTime();
      for (ReceiveThread thread : receiveThreads) {
        if (thread.busyNs(nowNs) > BLOCKED_NS) {
          blocked.increment();
          LOG.log(
              Level.WARNING,
              "{0} is in a handler for {1} ms: all its connections wait",
              thread.getName(),
              thread.busyNs(nowNs) / 1_000_000);
        }
      }
      for (Optional<AsyncEvent> event = context.pollAsync();
          event.isPresent();
          event = context.pollAsync()) {
        told(event.orElseThrow());
      }
    } catch (RuntimeException | Error e) {
      // The clock never calls again what has thrown.
      try {
        LOG.log(e instanceof Error ? Level.WARNING : Level.DEBUG, "looking at the device", e);
      } catch (RuntimeException | Error again) {
        // Memory is short, most likely. The next look is in a second.
      }
    }
  }

  /** An event is taken once, by any of the nodes that share a context. */
  private void told(AsyncEvent event) {
    AsyncEvent.Type type = event.type();
    LOG.log(Level.INFO, "the device says {0}", type);
    if (type != AsyncEvent.Type.DEVICE_FATAL
        && type != AsyncEvent.Type.COMPLETION_QUEUE_ERROR
        && type != AsyncEvent.Type.SHARED_RECEIVE_QUEUE_ERROR) {
      return;
    }
    for (VerbsNode node : cm == null ? Set.of(this) : SHARING) {
      if (node.context == context && node.concerns(event)) {
        node.lost("the device says " + type);
      }
    }
  }

  private boolean concerns(AsyncEvent event) {
    return event.type() == AsyncEvent.Type.DEVICE_FATAL
        || threads().stream().anyMatch(thread -> thread.queue == event.completionQueue())
        || receiveThreads.stream()
            .anyMatch(thread -> thread.requests == event.sharedReceiveQueue());
  }

  /** The device does not work any more. */
  void lost(String why) {
    lost = why;
    LOG.log(Level.ERROR, "all connections of the node are closed: {0}", why);
    for (Connection connection : connections) {
      connection.close(new CloseReason(CloseReason.Kind.DEVICE, why), false);
    }
  }

  /**
   * What it has done so far.
   *
   * @return numbers
   */
  public Metrics metrics() {
    long out = 0;
    for (SendThread thread : sendThreads) {
      out += thread.pool.out();
    }
    return new Metrics(
        connections.size(),
        opened.sum(),
        refused.sum(),
        sum(Count.MESSAGES_OUT),
        sum(Count.POSTS),
        sum(Count.POSTED),
        sum(Count.CREDIT_MESSAGES),
        creditStalls.sum(),
        roomStalls.sum(),
        sliceStalls.sum(),
        out,
        sum(Count.FAILED_REQUESTS),
        sum(Count.MESSAGES_IN),
        sum(Count.REFILLS),
        sum(Count.LATE_REFILLS),
        sum(Count.LARGE_IN),
        sum(Count.HANDLER_FAILURES),
        blocked.sum(),
        sum(Count.SLEEPS));
  }

  private long sum(int which) {
    long sum = 0;
    for (SendThread thread : sendThreads) {
      sum += thread.count.get(which);
    }
    for (ReceiveThread thread : receiveThreads) {
      sum += thread.count.get(which);
    }
    return sum;
  }

  // ---- closing

  private static CloseReason nodeClosed() {
    return new CloseReason(CloseReason.Kind.LOCAL, "the node is closed");
  }

  /**
   * Closes all connections, in an orderly way, and everything else. Blocks until that is done. Not
   * in handlers and listeners.
   *
   * @throws IllegalStateException if a handler does not return within ten seconds, though its
   *     thread was interrupted: the device and the memory stay open then
   */
  @Override
  public void close() {
    if (Thread.currentThread() instanceof NetThread thread && thread.node == this) {
      throw new IllegalStateException("a handler or listener cannot close its node");
    }
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    for (ServerSocketChannel listener : listeners) {
      try {
        listener.close();
      } catch (IOException e) {
        LOG.log(Level.DEBUG, "closing a listener", e);
      }
    }
    handshakes.forEach(VerbsNode::close);
    if (cm != null) {
      cm.shut();
    }
    for (Connection connection : connections) {
      connection.close(nodeClosed(), true);
    }
    if (!awaitEnd(options.lingerMs() * 1_000_000L + ENDING_NS / 2)) {
      receiveThreads.forEach(Thread::interrupt);
      if (!awaitEnd(ENDING_NS / 2)) {
        clock.shutdownNow();
        throw new IllegalStateException(
            connections.size()
                + " connections cannot be closed, because a handler does not return; the device"
                + " stays open");
      }
    }
    stopClock();
    SHARING.remove(this);
    if (cm != null) {
      cm.close();
    }
    receiveThreads.forEach(NetThread::end);
    sendThreads.forEach(NetThread::end);
    for (NetThread thread : threads()) {
      join(thread);
    }
    allocating.writeLock().lock();
    try {
      memories.forEach(RegisteredMemory::closeWithNode);
    } finally {
      allocating.writeLock().unlock();
    }
    largeBuffers.close();
    receiveThreads.forEach(ReceiveThread::release);
    sendThreads.forEach(SendThread::release);
    domain.close();
    closeContext();
  }

  /** Waits until it does not look at the device any more, which is closed next. */
  private void stopClock() {
    clock.shutdownNow();
    boolean interrupted = false;
    boolean ended = false;
    while (!ended) {
      try {
        ended = clock.awaitTermination(1, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private List<NetThread> threads() {
    List<NetThread> all = new ArrayList<>(sendThreads);
    all.addAll(receiveThreads);
    return all;
  }

  static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until there is neither connection nor handshake; false: time is over. */
  private boolean awaitEnd(long timeoutNs) {
    long endNs = System.nanoTime() + timeoutNs;
    boolean interrupted = false;
    while (!isQuiet()) {
      if (System.nanoTime() > endNs) {
        break;
      }
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return isQuiet();
  }

  private boolean isQuiet() {
    return connections.isEmpty() && handshakes.isEmpty() && (cm == null || cm.isIdle());
  }

  @Override
  public String toString() {
    return "verbs node on " + context + " with " + connections.size() + " connections";
  }
}

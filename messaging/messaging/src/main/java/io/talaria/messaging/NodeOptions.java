// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.lang.invoke.MethodHandles;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The configuration of a node. For one thread, and for one {@link Nodes#start}. All setters return
 * this object. A value out of range throws an {@link IllegalArgumentException} that names the value
 * and the range. The class is long, because it documents each option.
 */
public final class NodeOptions {
  /** The largest id. */
  public static final int MAX_ID = 65_534;

  private static final int MIN_RING = 16 << 10;
  private static final int MAX_RING = 16 << 20;
  private static final int MAX_MESSAGE = 1 << 30;

  private final int id;
  private String cluster = "";
  private InetSocketAddress listen;
  private NodeDirectory directory = NodeDirectory.thisHost();
  private Path key;
  private boolean insecure;
  private boolean encrypted;
  private Set<Transport> transports = EnumSet.of(Transport.SHM, Transport.TCP);
  private MethodHandles.Lookup lookup;
  private final List<Registration> registrations = new ArrayList<>();
  private int handlers = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  private int maxHandlers = 32;
  private int maxVirtualThreads = 10_000;
  private Duration sendTimeout = Duration.ofSeconds(1);
  private int dataRingBytes = 1 << 20;
  private int controlRingBytes = 256 << 10;
  private int maxMessageBytes = 64 << 20;
  private long receiveBudget = 128L << 20;

  /** 0: a quarter of {@link #receiveBudget}. */
  private long maxWaitingBytes;

  private int maxConnections = 100;
  private Duration spin = Duration.ofNanos(20_000);
  private IdleStrategy idleStrategy = IdleStrategy.ADAPTIVE;
  private Path runDirectory;
  private Path sharedMemoryDirectory;

  /**
   * A registered type, receiver, request handler or supplier.
   *
   * @param kind which of these
   * @param type the type
   * @param codec of a type; null for a record
   * @param dispatch of a receiver or request handler
   * @param taker a {@link Receiver}, a {@link RequestHandler} or, for REUSE, a {@link Supplier}
   */
  public record Registration(
      Kind kind, Class<?> type, Codec<?> codec, Dispatch dispatch, Object taker) {
    /** The kinds of registrations. */
    public enum Kind {
      /** A type. */
      TYPE,
      /** The receiver of its messages. */
      RECEIVER,
      /** The handler of its requests. */
      REQUEST_HANDLER,
      /** The supplier of the objects into which messages are read. */
      REUSE
    }
  }

  private NodeOptions(int id) {
    this.id = id;
  }

  /**
   * Creates the options of a node.
   *
   * @param id from 0 to 65,534, unique in the cluster
   */
  public static NodeOptions of(int id) {
    check("id", id, 0, MAX_ID);
    return new NodeOptions(id);
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + ", it must be from " + least + " to " + most);
    }
  }

  private static int ring(String name, int bytes) {
    check(name, bytes, MIN_RING, MAX_RING);
    if (Integer.bitCount(bytes) != 1) {
      throw new IllegalArgumentException(name + " is " + bytes + ", it must be a power of two");
    }
    return bytes;
  }

  /** The cluster's name. A node refuses nodes of other clusters. Default: empty. */
  public NodeOptions cluster(String name) {
    cluster = Objects.requireNonNull(name, "name");
    return this;
  }

  /**
   * Listens on TCP, for nodes of other hosts and for those of this host with which the node shares
   * no memory. Default: does not listen.
   *
   * @param host an address of this host
   * @param port from 0 to 65,535; 0 selects a free port, which {@link Node#port} returns
   */
  public NodeOptions listen(String host, int port) {
    check("port", port, 0, 65_535);
    listen = new InetSocketAddress(host, port);
    if (listen.isUnresolved()) {
      throw new IllegalArgumentException("host " + host + " is not known");
    }
    return this;
  }

  /** Where other nodes can be reached. Default: {@link NodeDirectory#thisHost}. */
  public NodeOptions directory(NodeDirectory nodes) {
    directory = Objects.requireNonNull(nodes, "nodes");
    return this;
  }

  /**
   * The file of the secret that all nodes share, of at least 32 bytes and readable only by this
   * user. Both ends of a TCP connection prove that they have it. Default: none; then nodes of other
   * hosts are refused.
   */
  public NodeOptions key(Path file) {
    key = Objects.requireNonNull(file, "file");
    return this;
  }

  /**
   * Accepts and makes connections to other hosts without a key, with anyone who can reach the port.
   * Default: off.
   */
  public NodeOptions insecure() {
    insecure = true;
    return this;
  }

  /**
   * Encrypts and authenticates all bytes of TCP connections after the proof of the key, with
   * AES-256 in Galois/counter mode, so that an attacker on the network can neither read nor change
   * them. Both ends must set this, and need a {@link #key}. Sending and receiving then allocate,
   * and use more processor time. Has no effect on shared memory. Default: off.
   */
  public NodeOptions encrypted() {
    encrypted = true;
    return this;
  }

  /**
   * The transports that may be used. A connection uses the first one, in the order of {@link
   * Transport}, that reaches the other node. Default: {@link Transport#SHM} and {@link
   * Transport#TCP}. Between hosts {@link Transport#VERBS} and {@link Transport#UCX} are not used
   * with {@link #encrypted}, nor without a {@link #key} unless {@link #insecure} is set.
   */
  public NodeOptions transports(Transport first, Transport... others) {
    transports = EnumSet.of(first, others);
    return this;
  }

  /** The program's access to its own records. Required if they are in a named module. */
  public NodeOptions lookup(MethodHandles.Lookup access) {
    lookup = Objects.requireNonNull(access, "access");
    return this;
  }

  /**
   * Registers a record. Its codec is generated when the node starts.
   *
   * @throws IllegalArgumentException if it is not a record
   */
  public NodeOptions type(Class<?> record) {
    if (!record.isRecord()) {
      throw new IllegalArgumentException(
          record.getName() + " is not a record: register it with a Codec");
    }
    registrations.add(new Registration(Registration.Kind.TYPE, record, null, null, null));
    return this;
  }

  /** Registers a type with its codec. */
  public <T> NodeOptions type(Class<T> type, Codec<T> codec) {
    Objects.requireNonNull(codec, "codec");
    registrations.add(new Registration(Registration.Kind.TYPE, type, codec, null, null));
    return this;
  }

  /**
   * Reads all messages of a type into the same object, which is valid until the receiver returns.
   * For INLINE receivers.
   *
   * @param first creates the object
   */
  public <T> NodeOptions reuse(Class<T> type, Supplier<T> first) {
    registrations.add(new Registration(Registration.Kind.REUSE, type, null, null, first));
    return this;
  }

  /** Registers the receiver of a type's messages, with {@link Dispatch#ORDERED}. */
  public <T> NodeOptions receive(Class<T> type, Receiver<T> receiver) {
    return receive(type, Dispatch.ORDERED, receiver);
  }

  /** Registers the receiver of a type's messages. */
  public <T> NodeOptions receive(Class<T> type, Dispatch dispatch, Receiver<T> receiver) {
    Objects.requireNonNull(dispatch, "dispatch");
    Objects.requireNonNull(receiver, "receiver");
    registrations.add(new Registration(Registration.Kind.RECEIVER, type, null, dispatch, receiver));
    return this;
  }

  /** Registers the handler of a type's requests. */
  public <Q> NodeOptions handle(
      Class<Q> type, Dispatch dispatch, RequestHandler<Q> requestHandler) {
    Objects.requireNonNull(dispatch, "dispatch");
    Objects.requireNonNull(requestHandler, "request handler");
    registrations.add(
        new Registration(Registration.Kind.REQUEST_HANDLER, type, null, dispatch, requestHandler));
    return this;
  }

  /** The number of handler threads that run at a time, 1 to 1,024. Default: half the cores. */
  public NodeOptions handlers(int threads) {
    check("handlers", threads, 1, 1024);
    handlers = threads;
    maxHandlers = Math.max(maxHandlers, threads);
    return this;
  }

  /**
   * The maximum number of handler threads, with those that wait in calls of this package; from
   * {@link #handlers(int)} to 1,024. Default: 32.
   */
  public NodeOptions maxHandlers(int threads) {
    check("maxHandlers", threads, handlers, 1024);
    maxHandlers = threads;
    return this;
  }

  /**
   * The maximum number of virtual threads at a time that run receivers of {@link Dispatch#VIRTUAL},
   * 1 to 1,000,000. Default: 10,000.
   */
  public NodeOptions maxVirtualThreads(int threads) {
    check("maxVirtualThreads", threads, 1, 1_000_000);
    maxVirtualThreads = threads;
    return this;
  }

  /** How long {@link Peer#send} waits, 0 to one hour. Default: one second. */
  public NodeOptions sendTimeout(Duration timeout) {
    check("sendTimeout in ms", timeout.toMillis(), 0, 3_600_000);
    sendTimeout = timeout;
    return this;
  }

  /**
   * The maximum size of the ring for messages and requests in each direction, in bytes: a power of
   * two from 16 KiB to 16 MiB. In shared memory a ring begins with 32 KiB and grows when it is
   * full. Default: 1 MiB.
   */
  public NodeOptions dataRingBytes(int bytes) {
    dataRingBytes = ring("dataRingBytes", bytes);
    return this;
  }

  /**
   * The maximum size of the ring for responses in each direction, in bytes: a power of two from 16
   * KiB to 16 MiB. In shared memory a ring begins with 16 KiB. Default: 256 KiB.
   */
  public NodeOptions controlRingBytes(int bytes) {
    controlRingBytes = ring("controlRingBytes", bytes);
    return this;
  }

  /** The maximum size of a message or response, in bytes, 1 KiB to 1 GiB. Default: 64 MiB. */
  public NodeOptions maxMessageBytes(int bytes) {
    check("maxMessageBytes", bytes, 1 << 10, MAX_MESSAGE);
    maxMessageBytes = bytes;
    return this;
  }

  /**
   * The memory for received messages that wait for handlers, in bytes, from 1 MiB to 1 TiB.
   * Default: 128 MiB.
   */
  public NodeOptions receiveBudget(long bytes) {
    check("receiveBudget", bytes, 1 << 20, 1L << 40);
    receiveBudget = bytes;
    return this;
  }

  /**
   * The maximum size of the messages that wait for one receiver or request handler of {@link
   * Dispatch#ORDERED} (from one node), {@link Dispatch#SERIAL} or {@link Dispatch#CONCURRENT} (from
   * all nodes), in bytes, from 64 KiB to 1 TiB. From half of it on, the nodes that send to this
   * receiver hold back further messages. The other half is for what they have sent before they know
   * that; it should be at least four times {@link #dataRingBytes}, because a message without room
   * delays everything behind it from the same node. One message alone may exceed the maximum.
   * Default: a quarter of {@link #receiveBudget(long)}.
   */
  public NodeOptions maxWaitingBytes(long bytes) {
    check("maxWaitingBytes", bytes, 64 << 10, 1L << 40);
    maxWaitingBytes = bytes;
    return this;
  }

  /**
   * The maximum number of connections, 1 to 10,000. Beyond it the node closes the connection that
   * has been idle for longest. Default: 100.
   */
  public NodeOptions maxConnections(int connections) {
    check("maxConnections", connections, 1, 10_000);
    maxConnections = connections;
    return this;
  }

  /**
   * How long a thread spins before it sleeps, 0 to one second; one that waits for a response spins
   * eight times as long. Default: 20 µs.
   */
  public NodeOptions spin(Duration time) {
    check("spin in ns", time.toNanos(), 0, 1_000_000_000L);
    spin = time;
    return this;
  }

  /**
   * What the poller does while there is nothing to receive. Default: {@link IdleStrategy#ADAPTIVE}.
   */
  public NodeOptions idleStrategy(IdleStrategy strategy) {
    idleStrategy = Objects.requireNonNull(strategy, "strategy");
    return this;
  }

  /**
   * The user's private directory for announcements. Default: the system property {@code
   * talaria.dir}, whose default is {@code /tmp/talaria-UID}.
   */
  public NodeOptions runDirectory(Path directory) {
    runDirectory = directory.toAbsolutePath();
    return this;
  }

  /**
   * The user's private directory for shared memory. Default: the system property {@code
   * talaria.shm.dir}, whose default is {@code /dev/shm/talaria-UID}.
   */
  public NodeOptions sharedMemoryDirectory(Path directory) {
    sharedMemoryDirectory = directory.toAbsolutePath();
    return this;
  }

  /** The node's id. */
  public int id() {
    return id;
  }

  /** See {@link #cluster(String)}. */
  public String cluster() {
    return cluster;
  }

  /** See {@link #listen(String, int)}; or null. */
  public InetSocketAddress listen() {
    return listen;
  }

  /** See {@link #directory(NodeDirectory)}. */
  public NodeDirectory directory() {
    return directory;
  }

  /** See {@link #key(Path)}; or null. */
  public Path key() {
    return key;
  }

  /** See {@link #encrypted()}. */
  public boolean isEncrypted() {
    return encrypted;
  }

  /** See {@link #insecure()}. */
  public boolean isInsecure() {
    return insecure;
  }

  /** See {@link #transports(Transport, Transport...)}. */
  public Set<Transport> transports() {
    return EnumSet.copyOf(transports);
  }

  /** See {@link #lookup(MethodHandles.Lookup)}; or null. */
  public MethodHandles.Lookup lookup() {
    return lookup;
  }

  /** All registrations, in the order in which they were made. */
  public List<Registration> registrations() {
    return List.copyOf(registrations);
  }

  /** See {@link #handlers(int)}. */
  public int handlers() {
    return handlers;
  }

  /** See {@link #maxHandlers(int)}. */
  public int maxHandlers() {
    return maxHandlers;
  }

  /** See {@link #maxVirtualThreads(int)}. */
  public int maxVirtualThreads() {
    return maxVirtualThreads;
  }

  /** See {@link #sendTimeout(Duration)}. */
  public Duration sendTimeout() {
    return sendTimeout;
  }

  /** See {@link #dataRingBytes(int)}. */
  public int dataRingBytes() {
    return dataRingBytes;
  }

  /** See {@link #controlRingBytes(int)}. */
  public int controlRingBytes() {
    return controlRingBytes;
  }

  /** See {@link #maxMessageBytes(int)}. */
  public int maxMessageBytes() {
    return maxMessageBytes;
  }

  /** See {@link #receiveBudget(long)}. */
  public long receiveBudget() {
    return receiveBudget;
  }

  /** See {@link #maxWaitingBytes(long)}; the default is that of the present receiveBudget. */
  public long maxWaitingBytes() {
    return maxWaitingBytes == 0 ? receiveBudget / 4 : maxWaitingBytes;
  }

  /** See {@link #maxConnections(int)}. */
  public int maxConnections() {
    return maxConnections;
  }

  /** See {@link #spin(Duration)}. */
  public Duration spin() {
    return spin;
  }

  /** See {@link #idleStrategy(IdleStrategy)}. */
  public IdleStrategy idleStrategy() {
    return idleStrategy;
  }

  /** See {@link #runDirectory(Path)}; or null. */
  public Path runDirectory() {
    return runDirectory;
  }

  /** See {@link #sharedMemoryDirectory(Path)}; or null. */
  public Path sharedMemoryDirectory() {
    return sharedMemoryDirectory;
  }
}

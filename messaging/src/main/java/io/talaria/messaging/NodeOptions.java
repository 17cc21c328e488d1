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
 * What a node is to be. For one thread, and one {@link Node#start}; methods return the same object.
 * Values out of range throw an {@link IllegalArgumentException} that names value and range.
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
  private int maxConnections = 100;
  private Duration spin = Duration.ofNanos(20_000);
  private IdleStrategy idleStrategy = IdleStrategy.ADAPTIVE;
  private Path runDirectory;
  private Path sharedMemoryDirectory;

  /**
   * Something registered: a type, or who takes it.
   *
   * @param kind what it is
   * @param type the type
   * @param codec of a type, or null for a record
   * @param dispatch of a receiver or request handler
   * @param taker a {@link Receiver}, a {@link RequestHandler} or, to reuse, a {@link Supplier}
   */
  public record Registration(
      Kind kind, Class<?> type, Codec<?> codec, Dispatch dispatch, Object taker) {
    /** What is registered. */
    public enum Kind {
      /** A type. */
      TYPE,
      /** Who takes its messages. */
      RECEIVER,
      /** Who answers its requests. */
      REQUEST_HANDLER,
      /** Where objects to read into come from. */
      REUSE
    }
  }

  private NodeOptions(int id) {
    this.id = id;
  }

  /**
   * Options of a node.
   *
   * @param id from 0 to 65,534; no two nodes of a cluster have the same
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

  /** The cluster's name: nodes of other clusters are refused. Default: empty. */
  public NodeOptions cluster(String name) {
    cluster = Objects.requireNonNull(name, "name");
    return this;
  }

  /**
   * Listens for nodes of other hosts, and for those of this host that share no memory. Default:
   * not.
   *
   * @param host an address of this host
   * @param port from 0 on; 0: any that is free, see {@link Node#port}
   */
  public NodeOptions listen(String host, int port) {
    check("port", port, 0, 65_535);
    listen = new InetSocketAddress(host, port);
    if (listen.isUnresolved()) {
      throw new IllegalArgumentException("host " + host + " is not known");
    }
    return this;
  }

  /** Where other nodes are. Default: {@link NodeDirectory#thisHost}. */
  public NodeOptions directory(NodeDirectory nodes) {
    directory = Objects.requireNonNull(nodes, "nodes");
    return this;
  }

  /**
   * The file of the secret that all nodes share, of 32 bytes or more and nobody else's to read:
   * both ends of a TCP connection prove to have it. Default: none, and then nodes of other hosts
   * are refused.
   */
  public NodeOptions key(Path file) {
    key = Objects.requireNonNull(file, "file");
    return this;
  }

  /** Talks to other hosts without a key: to anybody who reaches the port. Default: not. */
  public NodeOptions insecure() {
    insecure = true;
    return this;
  }

  /**
   * Encrypts and authenticates all that goes over TCP behind the proof of the key, by AES-256 in
   * Galois/counter mode: nobody on the way can read or change it. Both sides must say so, and need
   * a {@link #key}. Sending and receiving then allocate, and take more processor time. Shared
   * memory is not concerned. Default: not.
   */
  public NodeOptions encrypted() {
    encrypted = true;
    return this;
  }

  /**
   * The transports that may be used; of those that reach a node the first in the order of {@link
   * Transport} is taken. Default: {@link Transport#SHM} and {@link Transport#TCP}. Between hosts
   * {@link Transport#UCX} is not used if all shall be {@link #encrypted}, or without a {@link #key}
   * unless {@link #insecure} is said.
   */
  public NodeOptions transports(Transport first, Transport... others) {
    transports = EnumSet.of(first, others);
    return this;
  }

  /** The program's access to its own records; needed if they are in a named module. */
  public NodeOptions lookup(MethodHandles.Lookup access) {
    lookup = Objects.requireNonNull(access, "access");
    return this;
  }

  /**
   * Registers a record, whose codec is made at start.
   *
   * @throws IllegalArgumentException if it is no record
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
   * Has messages read into one object again and again, which is valid until the receiver returns:
   * for receivers that are INLINE.
   *
   * @param first makes it
   */
  public <T> NodeOptions reuse(Class<T> type, Supplier<T> first) {
    registrations.add(new Registration(Registration.Kind.REUSE, type, null, null, first));
    return this;
  }

  /** Registers who takes the messages of a type, ORDERED. */
  public <T> NodeOptions receive(Class<T> type, Receiver<T> receiver) {
    return receive(type, Dispatch.ORDERED, receiver);
  }

  /** Registers who takes the messages of a type. */
  public <T> NodeOptions receive(Class<T> type, Dispatch dispatch, Receiver<T> receiver) {
    Objects.requireNonNull(dispatch, "dispatch");
    Objects.requireNonNull(receiver, "receiver");
    registrations.add(new Registration(Registration.Kind.RECEIVER, type, null, dispatch, receiver));
    return this;
  }

  /** Registers the handler of the requests of a type. */
  public <Q> NodeOptions handle(
      Class<Q> type, Dispatch dispatch, RequestHandler<Q> requestHandler) {
    Objects.requireNonNull(dispatch, "dispatch");
    Objects.requireNonNull(requestHandler, "request handler");
    registrations.add(
        new Registration(Registration.Kind.REQUEST_HANDLER, type, null, dispatch, requestHandler));
    return this;
  }

  /** Handler threads, 1 to 1,024. Default: half the cores. */
  public NodeOptions handlers(int threads) {
    check("handlers", threads, 1, 1024);
    handlers = threads;
    maxHandlers = Math.max(maxHandlers, threads);
    return this;
  }

  /** Handler threads when some of them wait in calls of this package, up to 1,024. Default: 32. */
  public NodeOptions maxHandlers(int threads) {
    check("maxHandlers", threads, handlers, 1024);
    maxHandlers = threads;
    return this;
  }

  /** Messages on virtual threads at a time, 1 to 1,000,000. Default: 10,000. */
  public NodeOptions maxVirtualThreads(int threads) {
    check("maxVirtualThreads", threads, 1, 1_000_000);
    maxVirtualThreads = threads;
    return this;
  }

  /** How long {@link Peer#send} waits, up to an hour. Default: one second. */
  public NodeOptions sendTimeout(Duration timeout) {
    check("sendTimeout in ms", timeout.toMillis(), 0, 3_600_000);
    sendTimeout = timeout;
    return this;
  }

  /**
   * The most bytes of a ring, a power of two from 16 KiB to 16 MiB, each way. In shared memory it
   * begins with 32 KiB and grows when it is found full. Default: 1 MiB.
   */
  public NodeOptions dataRingBytes(int bytes) {
    dataRingBytes = ring("dataRingBytes", bytes);
    return this;
  }

  /** The same of the ring of responses, which begins with 16 KiB. Default: 256 KiB. */
  public NodeOptions controlRingBytes(int bytes) {
    controlRingBytes = ring("controlRingBytes", bytes);
    return this;
  }

  /** The largest message, in bytes, 1 KiB to 1 GiB. Default: 64 MiB. */
  public NodeOptions maxMessageBytes(int bytes) {
    check("maxMessageBytes", bytes, 1 << 10, MAX_MESSAGE);
    maxMessageBytes = bytes;
    return this;
  }

  /** Memory for what was received and not yet handled, from 1 MiB on. Default: 128 MiB. */
  public NodeOptions receiveBudget(long bytes) {
    check("receiveBudget", bytes, 1 << 20, 1L << 40);
    receiveBudget = bytes;
    return this;
  }

  /** Connections at a time, 1 to 10,000; the one idle for longest goes. Default: 100. */
  public NodeOptions maxConnections(int connections) {
    check("maxConnections", connections, 1, 10_000);
    maxConnections = connections;
    return this;
  }

  /** How long a thread looks before it sleeps, up to a second; 0: not. Default: 20 µs. */
  public NodeOptions spin(Duration time) {
    check("spin in ns", time.toNanos(), 0, 1_000_000_000L);
    spin = time;
    return this;
  }

  /** What the poller does while nothing comes. Default: {@link IdleStrategy#ADAPTIVE}. */
  public NodeOptions idleStrategy(IdleStrategy strategy) {
    idleStrategy = Objects.requireNonNull(strategy, "strategy");
    return this;
  }

  /**
   * The user's private directory for announcements. Default: {@code talaria.dir}, and that {@code
   * /tmp/talaria-UID}.
   */
  public NodeOptions runDirectory(Path directory) {
    runDirectory = directory.toAbsolutePath();
    return this;
  }

  /**
   * The user's private directory for shared memory. Default: {@code talaria.shm.dir}, and that
   * {@code /dev/shm/talaria-UID}.
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

  /** What was registered, in this order. */
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

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_ACCESS_FLAGS;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_AV;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_DEST_QPN;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_MAX_DEST_RD_ATOMIC;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_MAX_QP_RD_ATOMIC;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_MIN_RNR_TIMER;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_PATH_MTU;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_PKEY_INDEX;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_PORT;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_QKEY;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_RETRY_CNT;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_RNR_RETRY;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_RQ_PSN;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_SQ_PSN;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_STATE;
import static io.talaria.verbs.binding.VerbsConstants.IBV_QP_TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.CmStructs.CmId;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.IbvOps;
import io.talaria.verbs.binding.RdmaCm;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs;
import io.talaria.verbs.binding.VerbsStructs.ContextOps;
import io.talaria.verbs.binding.VerbsStructs.MwBind;
import io.talaria.verbs.binding.VerbsStructs.MwBindInfo;
import io.talaria.verbs.binding.VerbsStructs.Qp;
import io.talaria.verbs.binding.VerbsStructs.QpAttr;
import io.talaria.verbs.binding.VerbsStructs.QpCap;
import io.talaria.verbs.binding.VerbsStructs.QpInitAttr;
import io.talaria.verbs.binding.VerbsStructs.QpInitAttrEx;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A send queue and a receive queue ({@code ibv_qp}). Belongs to its protection domain and its
 * completion queues. One thread posts at a time, and that thread also changes the state; another
 * thread may poll the completion queues.
 *
 * <p>The queues are counted: a request has its place until its completion was polled, or that of a
 * signalled one after it. So neither queue takes more than it was opened for, whatever the device
 * would, and the completion queues cannot overflow.
 *
 * <p>After a request failed, the queue pair is in error: what is under way and what is posted later
 * completes with {@link Status#FLUSHED}, until the queues are full. Only {@link #reset} makes it
 * usable again.
 */
public sealed class QueuePair extends NativeObject permits ExtendedQueuePair {
  /** What posting returns when the queue is full: nothing was posted; poll, then try again. */
  public static final int BACK_PRESSURED = -12;

  private static final VarHandle SEND_RETIRED = handle("sendRetired");
  private static final VarHandle RECEIVE_RETIRED = handle("receiveRetired");
  private static final VarHandle MARK_TAIL = handle("markTail");

  private final Builder options;
  private final Context context;
  private final ProtectionDomain domain;
  private final MemorySegment postSend;
  private final MemorySegment postReceive;
  private final int number;
  private final int sendDepth;
  private final boolean signalAll;
  private final int inlineBytes;
  private final long serial;

  /** 0, or the identifier of RDMA CM that has made it. */
  private final long cmId;

  /** How many requests were posted. Confined to the thread that posts. */
  private long sendPosted;

  private long receivePosted;

  /** A batch of extended calls has begun: the provider may hold the lock of the send queue. */
  boolean inBatch;

  /** How many of them are done. Written by those that poll, by way of handles. */
  @SuppressWarnings("UnusedVariable")
  private long sendRetired;

  private long receiveRetired;

  /**
   * For each signalled request that is under way, how many were posted when it was. Written by the
   * thread that posts, before it does; read by the one that polls.
   */
  private final long[] marks;

  /** Where the next mark goes; published to the thread that polls. */
  private long markTail;

  /** Confined to the thread that polls. */
  private long markHead;

  QueuePair(Builder options, boolean extended, long cmId) {
    super("queue pair", options.owners());
    this.options = options;
    this.cmId = cmId;
    domain = options.domain;
    context = domain.context();
    sendDepth = options.sendRequests;
    signalAll = options.signalAll;
    long ops = context.pointer() + VerbsStructs.Context.OPS;
    postSend = IbvOps.pointerAt(ops + ContextOps.POST_SEND);
    postReceive = IbvOps.pointerAt(ops + ContextOps.POST_RECV);
    int reserved = 0;
    long pointer = 0;
    long opening = -1;
    try (Arena arena = Arena.ofConfined()) {
      marks = new long[Integer.highestOneBit(Math.max(1, options.sendRequests - 1)) * 2];
      options.sendQueue.reserve(options.sendRequests);
      options.sendQueue.takesSends();
      reserved = 1;
      options.reserveReceives();
      reserved = 2;
      MemorySegment attr = Bits.zeroed(arena, QpInitAttrEx.STRUCT);
      options.store(attr.address());
      pointer = create(attr.address(), extended, cmId);
      number = Raw.half(pointer + Qp.QP_NUM);
      inlineBytes = Raw.half(attr.address() + QpInitAttr.CAP + QpCap.MAX_INLINE_DATA);
      opening = domain.queuePairOpened();
      serial = opening;
      context.register(pointer, this);
      context.queuePairs().add(this);
      opened(pointer);
    } catch (RuntimeException | Error e) {
      if (pointer != 0) {
        context.unregister(pointer, this);
        int ignored = destroyed(pointer);
      }
      if (opening >= 0) {
        domain.queuePairClosed(opening);
      }
      if (reserved > 0) {
        options.sendQueue.unreserve(options.sendRequests);
      }
      if (reserved > 1) {
        options.releaseReceives(true);
      }
      abandoned();
      throw e;
    }
  }

  private static VarHandle handle(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(QueuePair.class, field, long.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  private long create(long attr, boolean extended, long cmId) {
    if (cmId != 0) {
      VerbsException.check(
          RdmaCm.createQp(cmId, domain.pointer(), attr), "rdma_create_qp of " + options);
      return Raw.word(cmId + CmId.QP);
    }
    if (!extended) {
      return VerbsException.check(
          Ibv.createQp(domain.pointer(), attr), "ibv_create_qp of " + options);
    }
    Raw.half(
        attr + QpInitAttrEx.COMP_MASK,
        VerbsConstants.IBV_QP_INIT_ATTR_PD | VerbsConstants.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
    Raw.word(attr + QpInitAttrEx.PD, domain.pointer());
    Raw.word(attr + QpInitAttrEx.SEND_OPS_FLAGS, ExtendedQueuePair.operations(options.type));
    return VerbsException.check(
        IbvOps.createQpEx(context.pointer(), attr), "ibv_create_qp_ex of " + options);
  }

  /** What a queue pair can do ({@code enum ibv_qp_type}). */
  public enum Type {
    /** Reliable connection: everything. */
    RC(VerbsConstants.IBV_QPT_RC),
    /** Unreliable connection: messages and writes. */
    UC(VerbsConstants.IBV_QPT_UC),
    /** Unreliable datagrams: messages of up to a packet, to anybody. */
    UD(VerbsConstants.IBV_QPT_UD);

    private final int code;

    Type(int code) {
      this.code = code;
    }
  }

  /** Where a queue pair is ({@code enum ibv_qp_state}). */
  @SuppressWarnings("EnumOrdinal") // in the order of the constants of C
  public enum State {
    /** New. */
    RESET,
    /** Receive requests may be posted. */
    INIT,
    /** It receives. */
    READY_TO_RECEIVE,
    /** It sends, too. */
    READY_TO_SEND,
    /** What was posted is sent; new requests wait. */
    SEND_QUEUE_DRAINED,
    /** A send failed; it still receives. */
    SEND_QUEUE_ERROR,
    /** Everything is flushed. */
    ERROR,
    /** Not said. */
    UNKNOWN;

    int code() {
      return ordinal();
    }

    static State of(int value) {
      return Bits.constant(values(), value, UNKNOWN);
    }
  }

  /**
   * Begins a reliable connection.
   *
   * @param domain whose regions it may use
   * @return what is asked for so far
   */
  public static Builder rc(ProtectionDomain domain) {
    return new Builder(domain, Type.RC);
  }

  /**
   * Begins an unreliable connection.
   *
   * @param domain whose regions it may use
   * @return what is asked for so far
   */
  public static Builder uc(ProtectionDomain domain) {
    return new Builder(domain, Type.UC);
  }

  /**
   * Begins a queue pair for datagrams.
   *
   * @param domain whose regions it may use
   * @return what is asked for so far
   */
  public static Builder ud(ProtectionDomain domain) {
    return new Builder(domain, Type.UD);
  }

  /** Collects the configuration of a queue pair. Not thread-safe; may be used again. */
  public static final class Builder {
    private static final int MAX_VALUE = 1 << 20;

    private final ProtectionDomain domain;
    private final Type type;
    private CompletionQueue sendQueue;
    private int sendRequests;
    private CompletionQueue receiveQueue;
    private int receiveRequests;
    private SharedReceiveQueue shared;
    private int sendPieces = 1;
    private int receivePieces = 1;
    private int inlineBytes;
    private boolean signalAll;

    private Builder(ProtectionDomain domain, Type type) {
      this.domain = Objects.requireNonNull(domain, "domain");
      this.type = type;
    }

    private Builder(Builder other) {
      domain = other.domain;
      type = other.type;
      sendQueue = other.sendQueue;
      sendRequests = other.sendRequests;
      receiveQueue = other.receiveQueue;
      receiveRequests = other.receiveRequests;
      shared = other.shared;
      sendPieces = other.sendPieces;
      receivePieces = other.receivePieces;
      inlineBytes = other.inlineBytes;
      signalAll = other.signalAll;
    }

    /**
     * How much it can send.
     *
     * @param queue where sends complete, of the same context
     * @param requests how many may be under way, at least 1
     * @return this
     */
    public Builder send(CompletionQueue queue, int requests) {
      domain.context().require(queue.context(), "completion queue");
      sendQueue = queue;
      sendRequests = Bits.inRange(requests, 1, MAX_VALUE, "the number of send requests");
      return this;
    }

    /**
     * How much it can receive.
     *
     * @param queue where receives complete, of the same context
     * @param requests how many may be posted, at least 1
     * @return this
     */
    public Builder receive(CompletionQueue queue, int requests) {
      domain.context().require(queue.context(), "completion queue");
      receiveQueue = queue;
      receiveRequests = Bits.inRange(requests, 1, MAX_VALUE, "the number of receive requests");
      shared = null;
      return this;
    }

    /**
     * Lets it receive by requests that it shares.
     *
     * @param queue where receives complete, of the same context, with room for all requests of the
     *     shared queue
     * @param requests a shared queue of the same protection domain
     * @return this
     */
    public Builder receive(CompletionQueue queue, SharedReceiveQueue requests) {
      domain.context().require(queue.context(), "completion queue");
      domain.require(requests.domain(), "shared receive queue");
      receiveQueue = queue;
      receiveRequests = 0;
      shared = requests;
      return this;
    }

    /**
     * How many pieces of memory requests may have; 1 without this.
     *
     * @param send of send requests, at least 1
     * @param receive of receive requests, at least 1
     * @return this
     */
    public Builder pieces(int send, int receive) {
      sendPieces = Bits.inRange(send, 1, SendRequests.MAX_PIECES, "the number of pieces");
      receivePieces = Bits.inRange(receive, 1, SendRequests.MAX_PIECES, "the number of pieces");
      return this;
    }

    /**
     * How many bytes may be inline; 0 without this.
     *
     * @param bytes from 0
     * @return this
     */
    public Builder inline(int bytes) {
      inlineBytes = Bits.inRange(bytes, 0, MAX_VALUE, "the number of bytes inline");
      return this;
    }

    /**
     * Lets every send request be signalled.
     *
     * @return this
     */
    public Builder signalAll() {
      signalAll = true;
      return this;
    }

    /**
     * Opens it ({@code ibv_create_qp}), in the state {@link State#RESET}.
     *
     * @return a queue pair, to be closed
     * @throws VerbsException if the device refuses
     * @throws IllegalStateException if a completion queue has no room for its requests
     */
    public QueuePair open() {
      return new QueuePair(complete(), false, 0);
    }

    /**
     * Opens an extended one ({@code ibv_create_qp_ex}), in the state {@link State#RESET}.
     *
     * @return a queue pair, to be closed
     * @throws VerbsException if the device cannot do it
     * @throws IllegalStateException if a completion queue has no room for its requests
     */
    public ExtendedQueuePair openExtended() {
      return new ExtendedQueuePair(complete());
    }

    void require(Context context) {
      context.require(domain.context(), "protection domain");
    }

    QueuePair open(long cmId) {
      return new QueuePair(complete(), false, cmId);
    }

    private Builder complete() {
      if (sendQueue == null || receiveQueue == null) {
        throw new IllegalStateException("a queue pair needs send() and receive()");
      }
      return new Builder(this);
    }

    private NativeObject[] owners() {
      Set<NativeObject> owners = new LinkedHashSet<>(List.of(domain, sendQueue));
      owners.add(receiveQueue);
      if (shared != null) {
        owners.add(shared);
      }
      return owners.toArray(NativeObject[]::new);
    }

    private void reserveReceives() {
      if (shared == null) {
        receiveQueue.reserve(receiveRequests);
      } else {
        receiveQueue.reserve(shared);
      }
    }

    private void releaseReceives(boolean unused) {
      if (shared != null) {
        receiveQueue.release(shared);
      } else if (unused) {
        receiveQueue.unreserve(receiveRequests);
      } else {
        receiveQueue.release(receiveRequests);
      }
    }

    private void store(long at) {
      Raw.word(at + QpInitAttr.SEND_CQ, sendQueue.pointer());
      Raw.word(at + QpInitAttr.RECV_CQ, receiveQueue.pointer());
      Raw.word(at + QpInitAttr.SRQ, shared == null ? 0 : shared.pointer());
      Raw.half(at + QpInitAttr.CAP + QpCap.MAX_SEND_WR, sendRequests);
      Raw.half(at + QpInitAttr.CAP + QpCap.MAX_RECV_WR, receiveRequests);
      Raw.half(at + QpInitAttr.CAP + QpCap.MAX_SEND_SGE, sendPieces);
      Raw.half(at + QpInitAttr.CAP + QpCap.MAX_RECV_SGE, shared == null ? receivePieces : 0);
      Raw.half(at + QpInitAttr.CAP + QpCap.MAX_INLINE_DATA, inlineBytes);
      Raw.half(at + QpInitAttr.QP_TYPE, type.code);
      Raw.half(at + QpInitAttr.SQ_SIG_ALL, signalAll ? 1 : 0);
    }

    @Override
    public String toString() {
      return type
          + " with "
          + sendRequests
          + " sends of "
          + sendPieces
          + " pieces, "
          + (shared == null ? receiveRequests + " receives of " + receivePieces : "shared receives")
          + " and "
          + inlineBytes
          + " bytes inline";
    }
  }

  /**
   * Its number on this port.
   *
   * @return 24 bits
   */
  public final int number() {
    return number;
  }

  /**
   * What it can do.
   *
   * @return the type
   */
  public final Type type() {
    return options.type;
  }

  /**
   * The domain it belongs to.
   *
   * @return the protection domain
   */
  public final ProtectionDomain domain() {
    return domain;
  }

  /**
   * How many bytes may be inline; at least what was asked for.
   *
   * @return a number of bytes
   */
  public final int inlineBytes() {
    return inlineBytes;
  }

  final int sendPieces() {
    return options.sendPieces;
  }

  /**
   * What a peer must know to connect to it.
   *
   * @param path by which it will be connected
   * @param packetNumber of the first packet it will send, 24 bits; a random one is good
   * @return its address
   * @throws VerbsException if the port cannot be asked
   * @throws IllegalStateException if the port has neither a LID nor a GID at the path's index
   */
  public final QueuePairAddress address(Path path, int packetNumber) {
    PortAttributes attributes = context.port(path.port());
    Gid gid = context.gid(path.port(), path.gidIndex()).map(GidEntry::gid).orElse(Gid.NONE);
    if (attributes.linkLayer() == PortAttributes.LinkLayer.INFINIBAND && attributes.lid() == 0) {
      throw new IllegalStateException(
          "port " + path.port() + " has no LID: there is no subnet manager (such as opensm)");
    }
    if (attributes.lid() == 0 && gid.equals(Gid.NONE)) {
      throw new IllegalStateException(
          "port "
              + path.port()
              + " has no GID of index "
              + path.gidIndex()
              + "; it has "
              + context.gids(path.port()));
    }
    return new QueuePairAddress(number, packetNumber, attributes.lid(), gid);
  }

  /**
   * Makes a connected queue pair ready to be posted receive requests to (RESET to INIT).
   *
   * @param port of this host, from 1
   * @param remote what the peer may do with memory of the domain
   * @throws VerbsException if the state is another
   */
  public final void initialize(int port, Access... remote) {
    requireConnected();
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, QpAttr.STRUCT).address();
      Raw.MEMORY.set(
          JAVA_BYTE, at + QpAttr.PORT_NUM, (byte) Bits.inRange(port, 1, 255, "the port"));
      Raw.half(at + QpAttr.QP_ACCESS_FLAGS, Access.remoteBits(remote));
      modify(at, State.INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    }
  }

  /**
   * Makes a connected queue pair receive (INIT to RTR).
   *
   * @param peer the address of the peer
   * @param path how to get there
   * @throws VerbsException if the state is another, or there is no route
   */
  public final void readyToReceive(QueuePairAddress peer, Path path) {
    requireConnected();
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, QpAttr.STRUCT).address();
      path.to(peer).store(at + QpAttr.AH_ATTR);
      Raw.half(at + QpAttr.PATH_MTU, PortAttributes.mtuCode(path.mtuBytes()));
      Raw.half(at + QpAttr.DEST_QP_NUM, peer.number());
      Raw.half(at + QpAttr.RQ_PSN, peer.packetNumber());
      int mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
      if (options.type == Type.RC) {
        Raw.MEMORY.set(JAVA_BYTE, at + QpAttr.MAX_DEST_RD_ATOMIC, (byte) path.readsIn());
        Raw.MEMORY.set(JAVA_BYTE, at + QpAttr.MIN_RNR_TIMER, (byte) path.notReadyTimer());
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
      }
      modify(at, State.READY_TO_RECEIVE, mask);
    }
  }

  /**
   * Makes a connected queue pair send (RTR to RTS).
   *
   * @param packetNumber of its first packet, as the peer was told
   * @param path how to get there
   * @throws VerbsException if the state is another
   */
  public final void readyToSend(int packetNumber, Path path) {
    requireConnected();
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, QpAttr.STRUCT).address();
      Raw.half(at + QpAttr.SQ_PSN, Bits.inRange(packetNumber, 0, 0xffffff, "the packet number"));
      int mask = IBV_QP_SQ_PSN;
      if (options.type == Type.RC) {
        Raw.MEMORY.set(JAVA_BYTE, at + QpAttr.TIMEOUT, (byte) path.timeout());
        Raw.MEMORY.set(JAVA_BYTE, at + QpAttr.RETRY_CNT, (byte) path.retries());
        Raw.MEMORY.set(JAVA_BYTE, at + QpAttr.RNR_RETRY, (byte) path.notReadyRetries());
        Raw.MEMORY.set(JAVA_BYTE, at + QpAttr.MAX_RD_ATOMIC, (byte) path.readsOut());
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
      }
      modify(at, State.READY_TO_SEND, mask);
    }
  }

  /**
   * Connects a new queue pair: all three steps. The peer may send as soon as this has returned
   * there and here.
   *
   * @param own its own address, as the peer was told
   * @param peer the address of the peer
   * @param path how to get there
   * @param remote what the peer may do with memory of the domain
   * @throws VerbsException if the state is another, or there is no route
   */
  public final void connect(
      QueuePairAddress own, QueuePairAddress peer, Path path, Access... remote) {
    initialize(path.port(), remote);
    readyToReceive(peer, path);
    readyToSend(own.packetNumber(), path);
  }

  /**
   * Makes a new queue pair for datagrams send and receive.
   *
   * @param port of this host, from 1
   * @param key that senders must give
   * @throws VerbsException if the state is another
   */
  public final void activate(int port, int key) {
    if (options.type != Type.UD) {
      throw new IllegalStateException(
          "an " + options.type + " queue pair is connected: see connect()");
    }
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, QpAttr.STRUCT).address();
      Raw.MEMORY.set(
          JAVA_BYTE, at + QpAttr.PORT_NUM, (byte) Bits.inRange(port, 1, 255, "the port"));
      Raw.half(at + QpAttr.QKEY, key);
      modify(at, State.INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
      modify(at, State.READY_TO_RECEIVE, 0);
      modify(at, State.READY_TO_SEND, IBV_QP_SQ_PSN);
    }
  }

  private void requireConnected() {
    if (options.type == Type.UD) {
      throw new IllegalStateException("a queue pair for datagrams has no peer: see activate()");
    }
  }

  private void modify(long at, State state, int mask) {
    Raw.half(at + QpAttr.QP_STATE, state.code());
    VerbsException.check(
        Ibv.modifyQp(pointer(), at, mask | IBV_QP_STATE), "ibv_modify_qp to " + state);
  }

  private void modify(State state) {
    try (Arena arena = Arena.ofConfined()) {
      modify(Bits.zeroed(arena, QpAttr.STRUCT).address(), state, 0);
    }
  }

  /**
   * Puts it in error: all that is under way completes with {@link Status#FLUSHED}.
   *
   * @throws VerbsException if the library refuses
   */
  public final void fail() {
    modify(State.ERROR);
  }

  /**
   * Lets it send what was posted, and no more ({@code SQD}); an event says when that is done.
   *
   * @throws VerbsException if the device cannot do it, or the state is another
   */
  public final void drain() {
    modify(State.SEND_QUEUE_DRAINED);
  }

  /**
   * Makes it new again. What is under way is dropped without completions. The completion queues
   * must have been polled until they were empty, and no other thread may poll them at the same
   * time.
   *
   * @throws VerbsException if the library refuses
   * @throws IllegalStateException if this thread is reading one of its completion queues; or if a
   *     batch of {@link ExtendedQueuePair} has begun
   */
  public final void reset() {
    requireNotReading();
    requireNoBatch();
    modify(State.RESET);
    sendPosted = 0;
    receivePosted = 0;
    markHead = 0;
    MARK_TAIL.setRelease(this, 0L);
    SEND_RETIRED.setRelease(this, 0L);
    RECEIVE_RETIRED.setRelease(this, 0L);
  }

  /**
   * What it is set to ({@code ibv_query_qp}).
   *
   * @return its attributes
   * @throws VerbsException if the library refuses
   */
  public final QueuePairAttributes attributes() {
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, QpAttr.STRUCT).address();
      long initial = Bits.zeroed(arena, QpInitAttr.STRUCT).address();
      int mask =
          IBV_QP_STATE
              | IBV_QP_PATH_MTU
              | IBV_QP_RQ_PSN
              | IBV_QP_SQ_PSN
              | IBV_QP_DEST_QPN
              | IBV_QP_QKEY
              | IBV_QP_PORT
              | IBV_QP_TIMEOUT
              | IBV_QP_RETRY_CNT
              | IBV_QP_RNR_RETRY;
      VerbsException.check(Ibv.queryQp(pointer(), at, mask, initial), "ibv_query_qp");
      return new QueuePairAttributes(
          State.of(Raw.half(at + QpAttr.QP_STATE)),
          PortAttributes.mtuBytes(Raw.half(at + QpAttr.PATH_MTU)),
          Raw.half(at + QpAttr.RQ_PSN),
          Raw.half(at + QpAttr.SQ_PSN),
          Raw.half(at + QpAttr.DEST_QP_NUM),
          Raw.half(at + QpAttr.QKEY),
          Raw.byteAt(at + QpAttr.PORT_NUM) & 0xff,
          Raw.byteAt(at + QpAttr.TIMEOUT) & 0xff,
          Raw.byteAt(at + QpAttr.RETRY_CNT) & 0xff,
          Raw.byteAt(at + QpAttr.RNR_RETRY) & 0xff);
    }
  }

  /**
   * Where it is ({@code ibv_query_qp}).
   *
   * @return its state
   * @throws VerbsException if the library refuses
   */
  public final State state() {
    return attributes().state();
  }

  /**
   * Posts send requests ({@code ibv_post_send}), by one call for all of them. Allocates nothing.
   * The block may be used again at return; the memory it names once a completion says so.
   *
   * @param requests of the same protection domain
   * @param first the first to post
   * @param count how many, at least 1
   * @return 0; {@link #BACK_PRESSURED}, and none is posted; or a negated error number, and {@link
   *     SendRequests#failed} says which was the first that is not posted
   * @throws IllegalStateException if the queue is full and none of its requests is signalled: it
   *     would stay so for ever; or if a batch of {@link ExtendedQueuePair} has begun
   */
  public final int post(SendRequests requests, int first, int count) {
    long queuePair = pointer();
    requireNoBatch();
    requests.check(domain, first, count);
    long before = sendPosted;
    if (before + count - (long) SEND_RETIRED.getAcquire(this) > sendDepth) {
      return full(count);
    }
    long tail = markTail;
    // The first by itself: most are posted one by one, and a loop that runs once costs more.
    long marked = mark(tail, requests, first, before + 1);
    for (int i = 1; i < count; i++) {
      marked = mark(marked, requests, first + i, before + i + 1);
    }
    MARK_TAIL.setRelease(this, marked);
    long start = requests.cut(first, count);
    int status = IbvOps.post(postSend, queuePair, start, requests.failedField());
    int posted = requests.joined(status, first, count);
    if (posted < count) {
      unmark(tail, marked, before + posted);
    }
    sendPosted = before + posted;
    return -Math.abs(status); // some providers negate it themselves
  }

  final void requireNoBatch() {
    if (inBatch) {
      throw new IllegalStateException("a batch has begun already: see complete() and abort()");
    }
  }

  /** Checks a request, and marks it if it is signalled; gives where the next mark goes. */
  private long mark(long at, SendRequests requests, int index, long position) {
    if (!requests.checked(this, index) && !signalAll) {
      return at;
    }
    marks[slot(at)] = position;
    return at + 1;
  }

  private int slot(long mark) {
    return (int) mark & (marks.length - 1);
  }

  /** Takes back the marks of requests that were not posted after all. */
  private void unmark(long tail, long marked, long posted) {
    long kept = marked;
    while (kept > tail && marks[slot(kept - 1)] > posted) {
      kept--;
    }
    MARK_TAIL.setRelease(this, kept);
  }

  final int full(int count) {
    if (count > options.sendRequests) {
      throw new IllegalArgumentException(
          count + " requests at once, but the send queue holds " + options.sendRequests);
    }
    long retired = (long) SEND_RETIRED.getAcquire(this);
    // The last mark, if there was one, is behind what is done: no completion is to come.
    if (sendPosted > 0 && (markTail == 0 || marks[slot(markTail - 1)] <= retired)) {
      throw new IllegalStateException(
          "the send queue is full, and none of its "
              + (sendPosted - retired)
              + " requests is signalled: signal one in "
              + options.sendRequests
              + " at least");
    }
    return BACK_PRESSURED;
  }

  /** Whether so many more fit; for the extended calls. */
  final boolean sendRoom(int count) {
    return sendPosted + count - (long) SEND_RETIRED.getAcquire(this) <= sendDepth;
  }

  /** One more, before it is posted by an extended call. */
  final void sending(long ahead, boolean signaled) {
    if (signaled || signalAll) {
      long tail = markTail;
      marks[slot(tail)] = sendPosted + ahead + 1;
      MARK_TAIL.setRelease(this, tail + 1);
    }
  }

  /** So many were posted by extended calls; or none, and their marks are taken back. */
  final void sent(int count, boolean posted) {
    if (posted) {
      sendPosted += count;
    } else {
      // No further back than the batch: before it, places of the ring hold marks of other requests.
      unmark(Math.max(0, markTail - count), markTail, sendPosted);
    }
  }

  /**
   * Posts receive requests ({@code ibv_post_recv}). Allocates nothing. The block may be used again
   * at return; its buffers once they are completed.
   *
   * @param requests of the same protection domain
   * @param first the first to post
   * @param count how many, at least 1
   * @return 0; {@link #BACK_PRESSURED}, and none is posted; or a negated error number, and {@link
   *     ReceiveRequests#failed} says which was the first that is not posted
   * @throws IllegalStateException if it receives by a shared queue
   */
  public final int post(ReceiveRequests requests, int first, int count) {
    long queuePair = pointer();
    if (options.shared != null) {
      throw new IllegalStateException("the queue pair receives by a shared queue: post there");
    }
    requests.check(domain, first, count, options.receivePieces);
    if (receivePosted + count - (long) RECEIVE_RETIRED.getAcquire(this) > options.receiveRequests) {
      return BACK_PRESSURED;
    }
    long start = requests.cut(first, count);
    int status = IbvOps.post(postReceive, queuePair, start, requests.failedField());
    receivePosted += requests.joined(status, first, count);
    return -Math.abs(status); // some providers negate it themselves
  }

  /**
   * One of its requests is completed. A queue pair in error gives no place back, but what it has
   * taken from a shared queue is a place there.
   */
  final void completed(CompletionQueue queue, int status, int opcode) {
    boolean receive = (opcode & Opcode.RECEIVE) != 0;
    if (status != Status.SUCCESS) {
      failed(queue, status, receive);
    } else if (receive) {
      if (options.shared != null) {
        options.shared.completed();
      } else {
        RECEIVE_RETIRED.setRelease(this, receiveRetired + 1);
      }
    } else {
      long head = markHead;
      if (head < (long) MARK_TAIL.getAcquire(this)) {
        markHead = head + 1;
        SEND_RETIRED.setRelease(this, marks[slot(head)]);
      }
    }
  }

  /**
   * A request has failed. A device leaves the kind of such a completion undefined, so the queue
   * where it came says what it was. Where both kinds come, one that was flushed counts as a send.
   */
  private void failed(CompletionQueue queue, int status, boolean maybeReceive) {
    if (options.shared == null) {
      return;
    }
    boolean receive =
        options.sendQueue == options.receiveQueue
            ? maybeReceive && status != Status.FLUSHED
            : queue == options.receiveQueue;
    if (receive) {
      options.shared.completed();
    }
  }

  /**
   * Binds a memory window of type 1 ({@code ibv_bind_mw}), which takes a place in the send queue.
   *
   * @param window of the same protection domain
   * @param id what the completion will have
   * @param region open for {@link Access#WINDOW_BIND}
   * @param offset where in the region the window starts
   * @param bytes how long it is
   * @param access what peers may do
   * @return 0, {@link #BACK_PRESSURED}, or a negated error number
   */
  public final int bind(
      MemoryWindow window,
      long id,
      MemoryRegion region,
      long offset,
      long bytes,
      Access... access) {
    if (window.type() != 1) {
      throw new IllegalArgumentException("a window of type 2 is bound by SendRequests.bind");
    }
    domain.require(window.domain(), "memory window");
    domain.require(region.domain(), "memory region");
    requireNoBatch();
    if (!sendRoom(1)) {
      return full(1);
    }
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, MwBind.STRUCT).address();
      Raw.word(at + MwBind.WR_ID, id);
      Raw.half(at + MwBind.SEND_FLAGS, VerbsConstants.IBV_SEND_SIGNALED);
      Raw.word(at + MwBind.BIND_INFO + MwBindInfo.MR, region.pointer());
      Raw.word(at + MwBind.BIND_INFO + MwBindInfo.ADDR, region.addressOf(offset, bytes));
      Raw.word(at + MwBind.BIND_INFO + MwBindInfo.LENGTH, bytes);
      Raw.half(at + MwBind.BIND_INFO + MwBindInfo.MW_ACCESS_FLAGS, Access.remoteBits(access));
      sending(0, true);
      int status = IbvOps.bindMw(context.pointer(), pointer(), window.pointer(), at);
      sent(1, status == 0);
      if (status == 0) {
        window.readKey();
      }
      return status;
    }
  }

  /**
   * Joins a multicast group ({@code ibv_attach_mcast}); the port must have joined it by other
   * means.
   *
   * @param group its identifier
   * @param lid its local identifier; 0 on Ethernet
   * @throws VerbsException if the device refuses
   */
  public final void attachMulticast(Gid group, int lid) {
    multicast(group, lid, true);
  }

  /**
   * Leaves a multicast group ({@code ibv_detach_mcast}).
   *
   * @param group its identifier
   * @param lid its local identifier; 0 on Ethernet
   * @throws VerbsException if the device refuses
   */
  public final void detachMulticast(Gid group, int lid) {
    multicast(group, lid, false);
  }

  private void multicast(Gid group, int lid, boolean attach) {
    Bits.inRange(lid, 0, 0xffff, "the LID");
    try (Arena arena = Arena.ofConfined()) {
      long at = arena.allocate(Gid.BYTES, 8).address();
      group.store(at);
      VerbsException.check(
          attach ? Ibv.attachMcast(pointer(), at, lid) : Ibv.detachMcast(pointer(), at, lid),
          (attach ? "ibv_attach_mcast of " : "ibv_detach_mcast of ") + group);
    }
  }

  /** Providers lock the completion queues to remove completions of a queue pair from them. */
  private void requireNotReading() {
    options.sendQueue.requireNotReadByThisThread();
    options.receiveQueue.requireNotReadByThisThread();
  }

  @Override
  final int destroy(long address) {
    requireNotReading(); // it is open afterwards
    try (Arena arena = Arena.ofConfined()) {
      // So that the device ends what is under way. What cannot be put in error is destroyed all the
      // same: after that the device touches no memory for it.
      MemorySegment attr = Bits.zeroed(arena, QpAttr.STRUCT);
      Raw.half(attr.address() + QpAttr.QP_STATE, State.ERROR.code());
      int ignored = Ibv.modifyQp(address, attr.address(), IBV_QP_STATE);
    }
    context.unregister(address, this);
    int status = destroyed(address);
    if (status < 0) {
      context.register(address, this);
      return status;
    }
    context.queuePairs().remove(this);
    domain.queuePairClosed(serial);
    options.sendQueue.release(options.sendRequests);
    options.releaseReceives(false);
    return status;
  }

  /** Gives it back to the library that has made it: 0, or a negated error number. */
  private int destroyed(long address) {
    if (cmId == 0) {
      return Ibv.destroyQp(address);
    }
    RdmaCm.destroyQp(cmId);
    return 0;
  }
}

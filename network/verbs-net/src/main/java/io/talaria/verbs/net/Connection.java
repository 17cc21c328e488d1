// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.QueuePair;
import io.talaria.verbs.Status;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

/**
 * A reliable connection between two nodes, for messages and remote memory. Usable by any thread at
 * any time, also while another one closes it.
 *
 * <p>A message is written into a {@link Slice} that was borrowed, and sent; messages arrive in the
 * order in which they were sent by one thread. Sending does not wait: it is refused while the peer
 * has no space ({@link #BACK_PRESSURED}). Large messages are read by the peer from memory of this
 * node, and may be overtaken by messages that are sent later.
 *
 * <p>Nothing here allocates, except the methods that give futures, those that wait, and {@link
 * #sendCopy}.
 */
public final class Connection implements AutoCloseable {
  /** The message or operation is on its way. */
  public static final int SENT = 0;

  /**
   * Too much is under way, here or at the peer: nothing was done, a slice is still the caller's.
   * {@link ConnectionHandler#writable} will be called.
   */
  public static final int BACK_PRESSURED = -1;

  /** The connection is closed or being closed: nothing was done, a slice was given back. */
  public static final int CLOSED = -2;

  // Stages only grow.
  static final int OPENING = 0;
  static final int OPEN = 1;

  /** The send thread waits for what was sent, a short time. */
  static final int DRAINING = 2;

  /** The receive thread hands over messages that have arrived. */
  static final int DELIVERING = 3;

  /** The send thread closes the queue pair, */
  static final int DESTROYING = 4;

  /** and gives back what its ring holds. */
  static final int SWEEPING = 5;

  /** The receive thread forgets it. */
  static final int FINISHING = 6;

  static final int OVER = 7;

  private static final VarHandle STAGE = handle("stage", int.class);
  private static final VarHandle REASON = handle("reason", CloseReason.class);
  private static final VarHandle FOR_SENDING = handle("forSending", int.class);
  private static final VarHandle FOR_RECEIVING = handle("forReceiving", int.class);
  private static final VarHandle RETURNABLE = handle("returnable", int.class);
  private static final VarHandle RETURNED = handle("returned", int.class);

  final VerbsNode node;
  final SendThread sendThread;
  final ReceiveThread receiveThread;
  final ConnectionHandler handler;
  final SendRing ring;
  final QueuePair queuePair;
  final int number;
  final int serial;
  final Offer peer;
  final LargeMessages large = new LargeMessages();
  private final Life life;
  private final Gate room = new Gate();
  private final CompletableFuture<CloseReason> over = new CompletableFuture<>();
  private volatile Object attachment;

  private volatile int stage;
  private volatile CloseReason reason;

  /** Whether closing waits for what was sent. Written before the stage. */
  private boolean graceful;

  private long closeBeganNs;

  /** In the queue of the send thread, or of the receive thread. */
  @SuppressWarnings("UnusedVariable") // by its handle
  private int forSending;

  @SuppressWarnings("UnusedVariable") // by its handle
  private int forReceiving;

  /** Somebody was refused and wants to be called. */
  private volatile boolean roomWanted;

  private volatile boolean writable;
  private volatile boolean announcing;

  /** The connection that set it up has ended: the peer is gone. */
  private volatile boolean lifeEnded;

  /** How many receive requests were posted again, modulo 2^32. Written by the receive thread. */
  private int returnable;

  /** Of how many the peer was told. Written by the send thread. */
  private int returned;

  // Confined to the send thread.
  int posted;
  int creditsOut;
  boolean closing;
  boolean waitsForMemory;
  private boolean failed;
  private boolean unreachable;
  private long failedNs;

  /** The peer is to be told that this side knows the connection: by a message without data. */
  private volatile boolean greets;

  // Confined to the receive thread.
  boolean announced;
  int owedEntries;
  boolean finished;
  Message largeMessage;

  /** Until the peer has said something, the handler is not told; null: it is. */
  private CompletableFuture<Void> greeting;

  Connection(
      VerbsNode node,
      VerbsNode.Place place,
      ConnectionHandler handler,
      QueuePair queuePair,
      Offer peer,
      Life life,
      CompletableFuture<Void> greeting) {
    this.node = node;
    sendThread = place.sendThread();
    receiveThread = place.receiveThread();
    serial = place.serial();
    this.handler = handler;
    this.queuePair = queuePair;
    number = queuePair.number();
    this.peer = peer;
    this.life = life;
    this.greeting = greeting;
    ring = new SendRing(node.sendDepth, peer.window());
  }

  private static VarHandle handle(String field, Class<?> type) {
    try {
      return MethodHandles.lookup().findVarHandle(Connection.class, field, type);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  // ---- messages

  /**
   * Borrows a slice of the send thread's block. Does not wait.
   *
   * @return a slice, to be sent or released; null if none is free, and {@link
   *     ConnectionHandler#writable} will be called
   */
  public Slice borrow() {
    SlicePool pool = sendThread.pool;
    Slice slice = pool.borrow();
    if (slice == null) {
      node.sliceStalls.increment();
      roomWanted = true;
      pool.wanted = true;
      VarHandle.fullFence();
      slice = pool.borrow();
    }
    return slice;
  }

  /**
   * Borrows a slice, and waits for one. Not in handlers and listeners.
   *
   * @param timeoutNs how long to wait, in nanoseconds
   * @return a slice; null: time is over
   * @throws InterruptedException if the thread is interrupted
   */
  public Slice awaitSlice(long timeoutNs) throws InterruptedException {
    Slice slice = sendThread.pool.borrow();
    if (slice != null) {
      return slice;
    }
    requireOtherThread();
    long endNs = System.nanoTime() + timeoutNs;
    SlicePool pool = sendThread.pool;
    do {
      if (!pool.gate.await(() -> !pool.isEmpty(), endNs - System.nanoTime())) {
        return null;
      }
      slice = pool.borrow();
    } while (slice == null);
    return slice;
  }

  /**
   * Sends a message. Does not wait.
   *
   * @param slice that the caller has borrowed from a connection of the same node; it is the
   *     library's afterwards, unless the result is {@link #BACK_PRESSURED}
   * @param length how many bytes of it, from 0 to what the slices of both sides hold: {@link
   *     #maxBytes}
   * @return {@link #SENT}, {@link #BACK_PRESSURED} or {@link #CLOSED}
   */
  public int send(Slice slice, int length) {
    if (slice.pool.region.domain() != node.domain) {
      throw new IllegalArgumentException("the slice is of another node");
    }
    if (length < 0 || length > maxBytes()) {
      throw new IllegalArgumentException(
          "a message of " + length + " bytes, but slices hold " + maxBytes() + ": see sendLarge");
    }
    slice.take();
    long claimed = claim(true);
    if (claimed < 0) {
      return refused(claimed, slice);
    }
    int slot = record(claimed, SendRing.MESSAGE, length);
    ring.subject[slot] = slice;
    return publish(claimed);
  }

  /** Begins to write the record that was claimed; gives its place in the arrays. */
  private int record(long claimed, byte kind, int length) {
    int slot = ring.slot((int) claimed);
    ring.kind[slot] = kind;
    ring.length[slot] = length;
    return slot;
  }

  /** Lets the send thread have the record that was claimed and written. */
  private int publish(long claimed) {
    ring.publish((int) claimed);
    scheduleSending();
    return SENT;
  }

  private int refused(long claimed, Slice slice) {
    if (claimed == SendRing.SHUT) {
      slice.free();
      return CLOSED;
    }
    slice.untake();
    return BACK_PRESSURED;
  }

  private long claim(boolean message) {
    long claimed = ring.claim(message);
    if (claimed == SendRing.BACK_PRESSURED) {
      (message && ring.withoutCredit() ? node.creditStalls : node.roomStalls).increment();
      roomWanted = true;
      VarHandle.fullFence();
      claimed = ring.claim(message);
    }
    return claimed;
  }

  /**
   * The longest message that is not large.
   *
   * @return a number of bytes
   */
  public int maxBytes() {
    return Math.min(node.options.sliceBytes(), peer.sliceBytes());
  }

  /**
   * Waits until a message can perhaps be sent, or the connection is closed. Not in handlers and
   * listeners.
   *
   * @param timeoutNs how long to wait, in nanoseconds
   * @return false: time is over
   * @throws InterruptedException if the thread is interrupted
   */
  public boolean awaitSpace(long timeoutNs) throws InterruptedException {
    if (ring.roomOrShut()) {
      return true;
    }
    requireOtherThread();
    return room.await(ring::roomOrShut, timeoutNs);
  }

  private void requireOtherThread() {
    if (Thread.currentThread() instanceof NetThread thread && thread.node == node) {
      throw new IllegalStateException(
          "a handler or listener must not wait: it would wait for its own thread");
    }
  }

  /**
   * Copies bytes into a slice and sends them; waits for both. Not in handlers and listeners.
   *
   * @param bytes at most {@link #maxBytes}
   * @param timeoutNs how long to wait, in nanoseconds
   * @return {@link #SENT}, {@link #BACK_PRESSURED} if time is over, or {@link #CLOSED}
   * @throws InterruptedException if the thread is interrupted
   */
  public int sendCopy(MemorySegment bytes, long timeoutNs) throws InterruptedException {
    if (bytes.byteSize() > maxBytes()) {
      throw new IllegalArgumentException(
          "a message of " + bytes.byteSize() + " bytes, but slices hold " + maxBytes());
    }
    long endNs = System.nanoTime() + timeoutNs;
    Slice slice = awaitSlice(timeoutNs);
    if (slice == null) {
      return isOpen() ? BACK_PRESSURED : CLOSED;
    }
    int result = BACK_PRESSURED;
    try {
      MemorySegment.copy(bytes, 0, slice.memory(), 0, bytes.byteSize());
      do {
        result = send(slice, (int) bytes.byteSize());
      } while (result == BACK_PRESSURED && awaitSpace(endNs - System.nanoTime()));
    } finally {
      if (result == BACK_PRESSURED) {
        slice.release();
      }
    }
    return result;
  }

  /**
   * Sends a large message from memory of this node, which must not be changed until the listener is
   * called: the peer reads it. Does not wait. The peer's handler gets it as one message.
   *
   * @param memory of this node, open for {@link io.talaria.verbs.Access#REMOTE_READ}
   * @param offset where it begins
   * @param bytes how long it is, from 1 to what the peer takes: {@link #maxLargeBytes}
   * @param token for the listener
   * @param listener is called when the peer's handler has returned, or the connection is closed
   * @return {@link #SENT}, {@link #BACK_PRESSURED} or {@link #CLOSED}; the listener is called after
   *     the first only
   */
  public int sendLarge(
      RegisteredMemory memory, long offset, long bytes, long token, OperationListener listener) {
    Objects.requireNonNull(listener, "listener");
    requireOwn(memory);
    if (bytes < 1 || bytes > maxLargeBytes()) {
      throw new IllegalArgumentException(
          "a large message of " + bytes + " bytes, but the peer takes 1 to " + maxLargeBytes());
    }
    memory.enter(offset, bytes);
    if (!enterLarge()) {
      memory.leave();
      return isOpen() ? BACK_PRESSURED : CLOSED;
    }
    Slice slice = borrow();
    if (slice == null) {
      large.leave();
      memory.leave();
      return isOpen() ? BACK_PRESSURED : CLOSED;
    }
    LargeMessages.header(slice.memory(), memory, offset, bytes);
    slice.take();
    long claimed = claim(true);
    if (claimed < 0) {
      large.leave();
      memory.leave();
      slice.free();
      return claimed == SendRing.SHUT ? CLOSED : BACK_PRESSURED;
    }
    int slot = record(claimed, SendRing.LARGE, LargeMessages.HEADER_BYTES);
    ring.subject[slot] = slice;
    ring.memory[slot] = memory;
    ring.listener[slot] = listener;
    ring.token[slot] = token;
    return publish(claimed);
  }

  private boolean enterLarge() {
    if (large.enter()) {
      return true;
    }
    roomWanted = true;
    VarHandle.fullFence();
    return large.enter();
  }

  /**
   * The longest large message that the peer takes.
   *
   * @return a number of bytes
   */
  public long maxLargeBytes() {
    return peer.largeBytes();
  }

  // ---- remote memory

  /**
   * Reads memory of the peer into memory of this node. Does not wait.
   *
   * @param from of the peer, open for {@link io.talaria.verbs.Access#REMOTE_READ}
   * @param fromOffset where in that
   * @param to of this node
   * @param toOffset where in that
   * @param bytes how much, at least 1
   * @param token for the listener
   * @param listener is called when it is over
   * @return {@link #SENT}, {@link #BACK_PRESSURED} or {@link #CLOSED}; the listener is called after
   *     the first only
   */
  public int read(
      RemoteMemory from,
      long fromOffset,
      RegisteredMemory to,
      long toOffset,
      int bytes,
      long token,
      OperationListener listener) {
    return operate(SendRing.READ, from, fromOffset, to, toOffset, bytes, 0, 0, token, listener);
  }

  /**
   * Writes memory of this node into memory of the peer. Does not wait.
   *
   * @param to of the peer, open for {@link io.talaria.verbs.Access#REMOTE_WRITE}
   * @param toOffset where in that
   * @param from of this node; it must not be changed until the listener is called
   * @param fromOffset where in that
   * @param bytes how much, at least 1
   * @param token for the listener
   * @param listener is called when it is over
   * @return {@link #SENT}, {@link #BACK_PRESSURED} or {@link #CLOSED}; the listener is called after
   *     the first only
   */
  public int write(
      RemoteMemory to,
      long toOffset,
      RegisteredMemory from,
      long fromOffset,
      int bytes,
      long token,
      OperationListener listener) {
    return operate(SendRing.WRITE, to, toOffset, from, fromOffset, bytes, 0, 0, token, listener);
  }

  /**
   * Adds to 64 bits of the peer's memory, in one step. Does not wait.
   *
   * @param at of the peer, open for {@link io.talaria.verbs.Access#REMOTE_ATOMIC}
   * @param atOffset where in that; the address must be a multiple of 8
   * @param add what to add
   * @param old of this node: where the 8 bytes that were there before go
   * @param oldOffset where in that
   * @param token for the listener
   * @param listener is called when it is over
   * @return {@link #SENT}, {@link #BACK_PRESSURED} or {@link #CLOSED}; the listener is called after
   *     the first only
   */
  public int fetchAdd(
      RemoteMemory at,
      long atOffset,
      long add,
      RegisteredMemory old,
      long oldOffset,
      long token,
      OperationListener listener) {
    requireAligned(at, atOffset);
    return operate(
        SendRing.FETCH_ADD, at, atOffset, old, oldOffset, Long.BYTES, add, 0, token, listener);
  }

  /**
   * Replaces 64 bits of the peer's memory if they are as expected, in one step. Does not wait.
   *
   * @param at of the peer, open for {@link io.talaria.verbs.Access#REMOTE_ATOMIC}
   * @param atOffset where in that; the address must be a multiple of 8
   * @param expected what must be there
   * @param swap what to put there then
   * @param old of this node: where the 8 bytes that were there before go
   * @param oldOffset where in that
   * @param token for the listener
   * @param listener is called when it is over
   * @return {@link #SENT}, {@link #BACK_PRESSURED} or {@link #CLOSED}; the listener is called after
   *     the first only
   */
  public int compareSwap(
      RemoteMemory at,
      long atOffset,
      long expected,
      long swap,
      RegisteredMemory old,
      long oldOffset,
      long token,
      OperationListener listener) {
    requireAligned(at, atOffset);
    return operate(
        SendRing.COMPARE_SWAP,
        at,
        atOffset,
        old,
        oldOffset,
        Long.BYTES,
        expected,
        swap,
        token,
        listener);
  }

  /**
   * Reads memory of the peer; see the other method of this name.
   *
   * @param from of the peer
   * @param fromOffset where in that
   * @param to of this node
   * @param toOffset where in that
   * @param bytes how much, at least 1
   * @return is completed on a thread of the node, which must not be blocked; fails if the operation
   *     does, or could not be begun for want of room ({@link RejectedExecutionException})
   */
  public CompletableFuture<Void> read(
      RemoteMemory from, long fromOffset, RegisteredMemory to, long toOffset, int bytes) {
    Waiting waiting = new Waiting();
    return waiting.begun(read(from, fromOffset, to, toOffset, bytes, 0, waiting));
  }

  /**
   * Writes memory of the peer; see the other method of this name.
   *
   * @param to of the peer
   * @param toOffset where in that
   * @param from of this node; it must not be changed until the future is completed
   * @param fromOffset where in that
   * @param bytes how much, at least 1
   * @return is completed on a thread of the node, which must not be blocked; fails if the operation
   *     does, or could not be begun for want of room ({@link RejectedExecutionException})
   */
  public CompletableFuture<Void> write(
      RemoteMemory to, long toOffset, RegisteredMemory from, long fromOffset, int bytes) {
    Waiting waiting = new Waiting();
    return waiting.begun(write(to, toOffset, from, fromOffset, bytes, 0, waiting));
  }

  /** A future of an operation. */
  private static final class Waiting implements OperationListener {
    private final CompletableFuture<Void> future = new CompletableFuture<>();

    CompletableFuture<Void> begun(int result) {
      if (result == BACK_PRESSURED) {
        future.completeExceptionally(
            new RejectedExecutionException("too many requests are under way: try again later"));
      } else if (result == Connection.CLOSED) {
        future.completeExceptionally(new IOException("the connection is closed"));
      }
      return future;
    }

    @Override
    public void over(Connection connection, long token, int status) {
      if (status == OperationListener.DONE) {
        future.complete(null);
      } else {
        future.completeExceptionally(
            new IOException(
                status == OperationListener.CLOSED
                    ? "the connection was closed before the operation was done"
                    : "the operation failed: " + Status.text(status)));
      }
    }
  }

  private static void requireAligned(RemoteMemory at, long atOffset) {
    if ((at.addressOf(atOffset, Long.BYTES) & 7) != 0) {
      throw new IllegalArgumentException(
          "offset " + atOffset + " is not at a multiple of 8 bytes in the peer's memory");
    }
  }

  private void requireOwn(RegisteredMemory memory) {
    if (memory.node != node) {
      throw new IllegalArgumentException("the registered memory is of another node");
    }
  }

  private int operate(
      byte kind,
      RemoteMemory remote,
      long remoteOffset,
      RegisteredMemory local,
      long localOffset,
      int bytes,
      long first,
      long second,
      long token,
      OperationListener listener) {
    Objects.requireNonNull(listener, "listener");
    requireOwn(local);
    if (remote.node() != peer.node()) {
      throw new IllegalArgumentException("the remote memory is not of this connection's peer");
    }
    if (bytes < 1) {
      throw new IllegalArgumentException("an operation on " + bytes + " bytes");
    }
    long address = remote.addressOf(remoteOffset, bytes);
    local.enter(localOffset, bytes);
    long claimed = claim(false);
    if (claimed < 0) {
      local.leave();
      return claimed == SendRing.SHUT ? CLOSED : BACK_PRESSURED;
    }
    int slot = record(claimed, kind, bytes);
    ring.memory[slot] = local;
    ring.offset[slot] = localOffset;
    ring.remoteAddress[slot] = address;
    ring.remoteKey[slot] = remote.key();
    ring.first[slot] = first;
    ring.second[slot] = second;
    ring.listener[slot] = listener;
    ring.token[slot] = token;
    return publish(claimed);
  }

  // ---- the life of the connection

  /**
   * Whether it can be used.
   *
   * @return false once it is being closed, by whomever
   */
  public boolean isOpen() {
    return reason == null;
  }

  /**
   * Closes it, from any thread and at any time; returns at once. What was sent before reaches the
   * peer, if it takes it within the time that the options say; what comes from now on is dropped.
   */
  @Override
  public void close() {
    close(new CloseReason(CloseReason.Kind.LOCAL, "closed by the program"), true);
  }

  /**
   * When it is over.
   *
   * @return is completed with the reason after {@link ConnectionHandler#closed}, on a thread of the
   *     node, which must not be blocked
   */
  public CompletableFuture<CloseReason> whenClosed() {
    return over.copy();
  }

  /**
   * The node of the peer.
   *
   * @return a random number, as {@link RemoteMemory#node} has it
   */
  public long peerNode() {
    return peer.node();
  }

  /**
   * Keeps something for the program.
   *
   * @param object anything, or null
   */
  public void attach(Object object) {
    attachment = object;
  }

  /**
   * What the program has attached.
   *
   * @return an object, or null
   */
  public Object attachment() {
    return attachment;
  }

  /** The handshake is over as far as the queue pair is concerned. */
  void opened() {
    boolean first = STAGE.compareAndSet(this, OPENING, OPEN);
    if (first && reason != null && STAGE.compareAndSet(this, OPEN, DRAINING)) {
      scheduleSending();
    }
  }

  /** Lets the receive thread tell the handler of the connection. */
  void announce() {
    announcing = true;
    scheduleReceiving();
  }

  boolean isAnnouncing() {
    return announcing;
  }

  /** Says the first word to a peer that waits for it. */
  void greet() {
    greets = true;
    scheduleSending();
  }

  /** Whether that is still to be said; by the send thread. */
  boolean takeGreeting() {
    if (!greets) {
      return false;
    }
    greets = false;
    return true;
  }

  /** Called by the receive thread when something has arrived from the peer. */
  void heard() {
    if (greeting != null) {
      boolean ignored = greeting.complete(null);
      greeting = null;
      announce();
    }
  }

  /** Begins to close it; the first reason counts. */
  void close(CloseReason why, boolean gracefully) {
    if (!REASON.compareAndSet(this, null, why)) {
      return;
    }
    graceful = gracefully;
    closeBeganNs = System.nanoTime();
    ring.shut();
    if (STAGE.compareAndSet(this, OPEN, DRAINING)) {
      scheduleSending();
    }
    room.open();
  }

  /** The connection that set it up has ended. */
  void lifeEnded(String how) {
    lifeEnded = true;
    close(new CloseReason(CloseReason.Kind.PEER, how), false);
    scheduleSending();
  }

  /** A request failed; by the send thread. */
  void failed(int status, String what) {
    if (!failed) {
      failed = true;
      unreachable = status == Status.RETRIES_EXCEEDED;
      failedNs = System.nanoTime();
      close(new CloseReason(CloseReason.Kind.FAILED, what), false);
    }
  }

  boolean hasFailed() {
    return failed;
  }

  /** Whether draining may end; by the send thread. */
  boolean isDrained(long nowNs) {
    if (lifeEnded) {
      return true;
    }
    if (failed) {
      // The peer's end is often known by a failed request first.
      return !unreachable || nowNs - failedNs > 1_000_000_000L;
    }
    return !graceful
        || (ring.completed() == ring.end() && large.isIdle())
        || nowNs - closeBeganNs > node.options.lingerMs() * 1_000_000L;
  }

  /** Tells the peer that this side is closed. */
  void endLife() {
    life.end();
  }

  /** Closes the queue pair and what belongs to it; by the send thread. */
  void closeQueuePair() {
    queuePair.close();
    life.release();
  }

  int stage() {
    return stage;
  }

  /** Moves to a later stage; only the thread whose turn it is calls this. */
  void stage(int next) {
    stage = next;
  }

  /** Whether messages go to the handler. */
  boolean delivers() {
    CloseReason why = reason;
    return why == null
        || why.kind() == CloseReason.Kind.PEER
        || why.kind() == CloseReason.Kind.FAILED;
  }

  /** Why it is over, once that is known. */
  CloseReason finalReason() {
    return unreachable && lifeEnded
        ? new CloseReason(CloseReason.Kind.PEER, "the peer has closed the connection or is gone")
        : reason;
  }

  void over() {
    stage = OVER;
    if (greeting != null) {
      boolean ignored = greeting.completeExceptionally(new IOException(reason.text()));
    }
    over.complete(finalReason());
  }

  /** Tells a listener; on a thread of the node. */
  void tell(OperationListener listener, long token, int status) {
    NetThread thread = Thread.currentThread() instanceof NetThread net ? net : sendThread;
    thread.busy();
    try {
      listener.over(this, token, status);
    } catch (Throwable t) {
      thrown(thread, t, "a listener");
    } finally {
      thread.free();
    }
  }

  /** A handler or listener has thrown. */
  void thrown(NetThread thread, Throwable thrown, String who) {
    thread.count.add(Count.HANDLER_FAILURES, 1);
    NetThread.LOG.log(Level.WARNING, who + " of " + this + " has thrown; it is closed", thrown);
    close(new CloseReason(CloseReason.Kind.HANDLER, who + " has thrown " + thrown), false);
  }

  // ---- between the threads

  /** Lets the send thread look at it. */
  void scheduleSending() {
    VarHandle.fullFence();
    if ((int) FOR_SENDING.getOpaque(this) == 0 && FOR_SENDING.compareAndSet(this, 0, 1)) {
      sendThread.offer(this);
    }
  }

  /** Lets the receive thread look at it. */
  void scheduleReceiving() {
    VarHandle.fullFence();
    if ((int) FOR_RECEIVING.getOpaque(this) == 0 && FOR_RECEIVING.compareAndSet(this, 0, 1)) {
      receiveThread.offer(this);
    }
  }

  /** A thread has taken it from its queue, and looks now. */
  void unscheduled(NetThread thread) {
    if (thread == sendThread) {
      FOR_SENDING.setVolatile(this, 0);
    } else {
      FOR_RECEIVING.setVolatile(this, 0);
    }
    VarHandle.fullFence();
  }

  /** There is room, or a slice; by the threads of the node. */
  void roomMade() {
    room.open();
    if (roomWanted) {
      roomWanted = false;
      writable = true;
      scheduleReceiving();
    }
  }

  /** Whether the handler is to be told that there is room; by the receive thread. */
  boolean takeWritable() {
    boolean told = writable;
    writable = false;
    return told;
  }

  /** A receive request was posted in place of one that it has used; by the receive thread. */
  void reposted() {
    RETURNABLE.setRelease(this, returnable + 1);
    if (returnable - (int) RETURNED.getOpaque(this) >= node.creditThreshold) {
      scheduleSending();
    }
  }

  /** Of how many receive requests the peer is to be told; by the send thread. */
  int credits() {
    return (int) RETURNABLE.getAcquire(this) - returned;
  }

  /** It is told of so many; by the send thread. */
  void creditsTold(int credits) {
    RETURNED.setOpaque(this, returned + credits);
  }

  @Override
  public String toString() {
    CloseReason why = reason;
    return "connection "
        + serial
        + " to "
        + peer.address().gid()
        + " queue pair "
        + peer.address().number()
        + (why == null ? "" : " (" + why + ")");
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.counters.Recorded;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.dispatch.Waiters;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.engine.ConnectionPeer;
import io.talaria.messaging.engine.Delivery;
import io.talaria.messaging.engine.Inbox;
import io.talaria.messaging.engine.ResponseSlot;
import io.talaria.messaging.engine.Sender;
import io.talaria.messaging.records.Positions;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.types.Target;
import io.talaria.messaging.types.TypeEntry;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A node to which this process sends, which may be the own node. It is one class, because messages,
 * requests and both ways to wait for a response begin with the same search for a connection.
 */
public final class RemotePeer implements ConnectionPeer {
  private final LocalNode node;
  private final int id;
  private final Waiters connecting = new Waiters();
  private final Positions positions = new Positions();
  private volatile Connection connection;

  /** Why the last attempt to connect failed; null if there was none, or after a connection. */
  private volatile MessagingException problem;

  /** Whether the conductor was asked for a connection. */
  public final AtomicBoolean requested = new AtomicBoolean();

  /** Indexed by the target's index. Written by the poller only. */
  private final Inbox[] inboxes;

  RemotePeer(LocalNode node, int id) {
    this.node = node;
    this.id = id;
    inboxes = new Inbox[node.types().targetCount()];
  }

  @Override
  public Inbox inbox(Target<?> target, Delivery delivery) {
    Inbox inbox = inboxes[target.index];
    if (inbox == null) {
      inbox = delivery.newInbox();
      inboxes[target.index] = inbox;
    }
    return inbox;
  }

  @Override
  public int id() {
    return id;
  }

  public Connection connection() {
    return connection;
  }

  @Override
  public int waiting() {
    int waiting = 0;
    for (Inbox each : inboxes) {
      waiting += each == null ? 0 : each.waiting();
    }
    return waiting;
  }

  @Override
  public Positions positions() {
    return positions;
  }

  /** Sets the connection, or null if it has ended, and wakes the threads that wait for it. */
  public void connection(Connection now) {
    if (now != null) {
      problem = null;
    }
    connection = now;
    connecting.wake();
  }

  public void unreachable(MessagingException why) {
    problem = why;
    connecting.wake();
  }

  public boolean hasWaiters() {
    return !connecting.none();
  }

  @Override
  public long trySend(Object message) {
    Objects.requireNonNull(message, "message");
    ThreadContext context = ThreadContext.current();
    context.mustNotBeInCodec();
    TypeEntry type = context.typeOf(node.types(), message);
    if (node.closing()) {
      return CLOSED;
    }
    Connection now = connection;
    if (now == null) {
      node.connector().want(this);
      return CONNECTING;
    }
    RecordHead head = context.head.of(type.index, Records.MESSAGE, 0, 0, 0);
    return Sender.orNoRoom(now.sender().put(context, type, message, RingPair.DATA, head));
  }

  @Override
  public long send(Object message) throws MessagingException {
    Objects.requireNonNull(message, "message");
    ThreadContext context = ThreadContext.current();
    context.mayWait();
    TypeEntry type = context.typeOf(node.types(), message);
    Connection now = connection;
    if (now != null && !node.closing()) {
      RecordHead head = context.head.of(type.index, Records.MESSAGE, 0, 0, 0);
      long result = now.sender().put(context, type, message, RingPair.DATA, head);
      if (result > 0) {
        return result;
      }
    }
    return sendSlowly(
        context, type, message, Records.MESSAGE, null, 0, deadline(node.sendTimeoutNs()));
  }

  /** Converts to nanoseconds, bounded so that adding them to the current time cannot overflow. */
  static long nanos(Duration timeout) {
    return Math.min(TimeUnit.NANOSECONDS.convert(timeout), Long.MAX_VALUE >> 2);
  }

  private static long deadline(long timeoutNs) {
    return System.nanoTime() + Math.min(timeoutNs, Long.MAX_VALUE >> 2);
  }

  /**
   * Sends after waiting for a connection and for room, also what must go in slices. A request may
   * have another generation afterwards: see {@link ResponseSlot#moveTo}.
   *
   * @param limitNs until when to wait for a connection that nothing is known to prevent; all else
   *     waits no longer than a send does
   */
  private long sendSlowly(
      ThreadContext context,
      TypeEntry type,
      Object message,
      byte kind,
      ResponseSlot slot,
      int limitUs,
      long limitNs)
      throws MessagingException {
    int slotIndex = slot == null ? 0 : slot.index;
    int generation = slot == null ? 0 : slot.generation();
    long untilNs = sendUntil(limitNs);
    while (true) {
      Connection now = awaitConnection(untilNs, limitNs);
      if (untilNs - System.nanoTime() <= 0) { // connecting took that time
        untilNs = sendUntil(limitNs);
      }
      if (slot != null) {
        generation = slot.moveTo(now, generation);
      }
      Sender sender = now.sender();
      RecordHead head = context.head.of(type.index, kind, slotIndex, generation, limitUs);
      long result = sender.put(context, type, message, RingPair.DATA, head);
      if (result == TOO_LARGE || result == Sender.LARGER_SOON) {
        result =
            new LargeSend(now, context, type, kind, slot, generation, limitUs, untilNs)
                .send(message);
      }
      if (result > 0) {
        return result;
      }
      if (result == BACK_PRESSURED) {
        if (!sender.awaitRoom(sender.maxRecord(RingPair.DATA), head.what(), untilNs)) {
          throw noRoom(now);
        }
      } else {
        if (slot != null) {
          generation = slot.moveTo(null, generation); // the connection ends once none is open on it
        }
        awaitEnd(now, untilNs);
      }
    }
  }

  /** When a send that begins now has waited for long enough. */
  private long sendUntil(long limitNs) {
    return Math.min(limitNs, deadline(node.sendTimeoutNs()));
  }

  static MessagingException noRoom(Connection to) {
    return new MessagingException(
        Code.BACK_PRESSURED,
        "node "
            + to.peer.id()
            + " has taken too little within the timeout: its receivers are slow, or its process is stopped"
            + StallDetector.openOn(to));
  }

  /** Waits until a sealed connection, which accepts no more messages, was replaced or removed. */
  private void awaitEnd(Connection old, long deadlineNs) throws MessagingException {
    Handlers own = Handlers.beginWait();
    connecting.enter();
    try {
      while (connection == old) {
        park(deadlineNs, "the connection to node " + id + " is ending");
      }
    } finally {
      connecting.leave();
      Handlers.endWait(own);
    }
  }

  private static void park(long deadlineNs, String what) throws MessagingException {
    long left = deadlineNs - System.nanoTime();
    if (left <= 0) {
      throw new MessagingException(Code.UNREACHABLE, what);
    }
    LockSupport.parkNanos(left);
    if (Thread.currentThread().isInterrupted()) {
      throw new MessagingException(Code.CANCELLED, "the thread was interrupted while it waited");
    }
  }

  private Connection awaitConnection(long deadlineNs, long connectUntilNs)
      throws MessagingException {
    Connection now = connection;
    node.mustBeOpen();
    if (now != null) {
      return now;
    }
    Handlers own = Handlers.beginWait();
    Object recorded = Recorded.begin();
    // Enter before asking: the conductor drops the request of a peer for which no thread waits.
    connecting.enter();
    try {
      node.connector().want(this);
      while ((now = connection) == null) {
        node.mustBeOpen();
        MessagingException why = problem;
        long untilNs = why == null ? connectUntilNs : deadlineNs;
        if (untilNs - System.nanoTime() <= 0) {
          throw why != null
              ? new MessagingException(why.code(), textOf(why))
              : new MessagingException(
                  Code.UNREACHABLE, "no connection to node " + id + " within the timeout");
        }
        park(untilNs + 1_000_000, "no connection to node " + id); // a problem ends it, too
      }
      return now;
    } finally {
      connecting.leave();
      Handlers.endWait(own);
      Recorded.waited(recorded, "connection", id);
    }
  }

  private static String textOf(MessagingException why) {
    return why.getMessage().substring(why.code().name().length() + 2);
  }

  @Override
  public boolean awaitDelivered(long position, Duration timeout) throws MessagingException {
    ThreadContext.current().mayWait();
    if (position <= 0) {
      throw new IllegalArgumentException("position is " + position + ", it must be positive");
    }
    Connection now = connection;
    if (now != null && Positions.isOf(position, now.number)) {
      return now.sender().awaitDelivered(position, deadline(nanos(timeout)));
    }
    if (positions.wasDelivered(position)) {
      return true;
    }
    throw new MessagingException(
        Code.LOST, "the connection of position " + position + " to node " + id + " has ended");
  }

  @Override
  public <A> A request(Object request, Class<A> response, Duration timeout)
      throws MessagingException {
    return requestNs(request, response, nanos(timeout));
  }

  @Override
  public <A> A requestNs(Object request, Class<A> response, long timeoutNs)
      throws MessagingException {
    ThreadContext context = ThreadContext.current();
    TypeEntry type = typeOfRequest(context, request, response);
    ResponseSlot slot = takeSlot();
    boolean hasFuture = false;
    try {
      boolean looked = sendRequest(context, type, request, slot, timeoutNs, true);
      int generation = slot.generation();
      if (slot.done(generation)) {
        return response.cast(slot.take(generation, context, response));
      }
      PendingResponse<A> pending =
          new PendingResponse<>(
              node, this, slot, generation, response, until(slot, timeoutNs), looked, false);
      hasFuture = true;
      return pending.result();
    } finally {
      if (!hasFuture) {
        giveBack(slot);
      }
    }
  }

  @Override
  public <A> ResponseFuture<A> requestAsync(Object request, Class<A> response, Duration timeout)
      throws MessagingException {
    ThreadContext context = ThreadContext.current();
    TypeEntry type = typeOfRequest(context, request, response);
    ResponseSlot slot = takeSlot();
    boolean hasFuture = false;
    try {
      long timeoutNs = nanos(timeout);
      boolean looked = sendRequest(context, type, request, slot, timeoutNs, false);
      int generation = slot.generation();
      PendingResponse<A> pending =
          new PendingResponse<>(
              node, this, slot, generation, response, until(slot, timeoutNs), looked, true);
      slot.owner = pending;
      hasFuture = true;
      return pending;
    } finally {
      if (!hasFuture) {
        giveBack(slot);
      }
    }
  }

  private TypeEntry typeOfRequest(ThreadContext context, Object request, Class<?> response) {
    Objects.requireNonNull(request, "request");
    context.mayWait();
    TypeEntry type = context.typeOf(node.types(), request);
    node.types().ofClass(response);
    return type;
  }

  private ResponseSlot takeSlot() throws MessagingException {
    ResponseSlot slot = node.responseSlots().take();
    if (slot == null) {
      throw new MessagingException(Code.BACK_PRESSURED, "65536 requests are under way already");
    }
    return slot;
  }

  /**
   * A timeout as the peer is told it. One that is too long for the field, which ends at 35 minutes,
   * is told as none: the peer must not give the request up while its requester waits.
   */
  private static int limitUs(long timeoutNs) {
    long limitUs = timeoutNs / 1000;
    return limitUs > Integer.MAX_VALUE ? Records.NO_LIMIT : (int) Math.max(1, limitUs);
  }

  /** When a request's timeout passes. */
  private static long until(ResponseSlot slot, long timeoutNs) {
    return slot.begunNs + Math.min(timeoutNs, Long.MAX_VALUE >> 2);
  }

  /**
   * Sends a request, and polls for its response if its thread waits for it.
   *
   * @return whether it has polled for the response
   * @throws MessagingException if the request was not sent, so that no response can come
   */
  private boolean sendRequest(
      ThreadContext context,
      TypeEntry type,
      Object request,
      ResponseSlot slot,
      long timeoutNs,
      boolean waits)
      throws MessagingException {
    int limitUs = limitUs(timeoutNs);
    Connection now = connection;
    int generation = slot.open(now);
    boolean looked = false;
    long result = LOST;
    if (now != null && !node.closing()) {
      RecordHead head =
          context.head.of(type.index, Records.REQUEST, slot.index, generation, limitUs);
      context.wantsToLead = waits && !Thread.currentThread().isVirtual();
      try {
        result = now.sender().put(context, type, request, RingPair.DATA, head);
        looked = context.leads;
        if (looked) {
          slot.begunNs = now.leading().lookForOwn(slot, generation, timeoutNs);
        }
      } finally {
        context.wantsToLead = false;
        if (context.leads) {
          context.leads = false;
          now.leading().stop();
        }
      }
    }
    if (!looked) {
      slot.begunNs = System.nanoTime();
    }
    if (result <= 0) {
      long deadline = until(slot, timeoutNs);
      long limit = waits ? deadline : sendUntil(deadline);
      sendSlowly(context, type, request, Records.REQUEST, slot, limitUs, limit);
    }
    return looked;
  }

  /**
   * Frees the slot of a request whose response was taken or that was not sent. In the second case
   * the thread that ends a connection may be filling it with a failure: then waits for that.
   */
  private void giveBack(ResponseSlot slot) {
    int generation = slot.generation();
    while (!slot.gone(generation) && !slot.giveUp(generation) && !slot.done(generation)) {
      Thread.onSpinWait();
    }
    slot.reset(generation);
    node.responseSlots().giveBack(slot);
  }

  @Override
  public boolean connected() {
    return connection != null;
  }

  @Override
  public String transport() {
    Connection now = connection;
    return now == null ? null : now.link().transport();
  }

  @Override
  public String reason() {
    Connection now = connection;
    if (now != null) {
      return now.link().reason();
    }
    MessagingException why = problem;
    return why == null ? "not connected yet" : why.getMessage();
  }

  @Override
  public long freeBytes() {
    Connection now = connection;
    return now == null ? 0 : now.sender().roomBytes();
  }

  @Override
  public String toString() {
    return "node " + id;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Receiver;
import io.talaria.messaging.RequestHandler;
import io.talaria.messaging.counters.Counts;
import io.talaria.messaging.counters.Recorded;
import io.talaria.messaging.dispatch.BoundedQueue;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.dispatch.Mailbox;
import io.talaria.messaging.dispatch.SlabPool;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.records.Decoder;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.types.Target;
import io.talaria.messaging.types.TypeEntry;
import io.talaria.messaging.types.Types;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Delivers received messages and requests to receivers and request handlers: on the poller, through
 * an {@link Inbox} on handlers, or on virtual threads. The three are one class, because they share
 * what waits and its limits. Its package-private methods are for the poller.
 */
public final class Delivery {
  private static final int MAILBOX = 1024;
  private static final int SHARED_MAILBOX = 1 << 14;
  private static final int ENVELOPES = 1 << 14;

  /**
   * The memory of one inbox beyond its mailbox, in multiples of a ring's bytes: what the rings of
   * both ends contain, and as much again for what is sent before the sender reads HOLD.
   */
  private static final int RINGS_BEYOND = 4;

  private final NodeOptions options;
  private final Handlers handlers;
  private final Poller poller;
  private final LargeMemory largeMemory;
  private final SlabWriter slabs;
  private final Counts counts;
  private final NodeEvents events;
  private final Rejections rejections;
  private final String virtualThreadName;
  private final BoundedQueue<Envelope> envelopes = new BoundedQueue<>(ENVELOPES);
  private final Consumer<Envelope> open = this::open;
  private final AtomicInteger virtual = new AtomicInteger();

  /** The poller's, for what it delivers itself. Poller only. */
  private ThreadContext context;

  private final int maxVirtualThreads;

  /**
   * Whether the poller has left a record of any connection unread for lack of room, so that a
   * thread that makes room must wake it. The poller sets this before its last attempt, and the
   * other threads make room before they read this, so no wake-up is lost.
   */
  private volatile boolean roomWanted;

  /** Whether the poller must let connections continue that hold. Set before it is woken. */
  private volatile boolean releaseWanted;

  /**
   * By the target's index: the inbox for the messages of all nodes, of SERIAL and CONCURRENT; else
   * null.
   */
  private final Inbox[] shared;

  /** The inboxes for which any connection holds. Used by the poller only. */
  private final List<Inbox> holding = new ArrayList<>();

  public Delivery(
      NodeOptions options,
      Types types,
      Handlers handlers,
      Poller poller,
      LargeMemory largeMemory,
      Counts counts,
      NodeEvents events,
      String virtualThreadName) {
    this.options = options;
    this.handlers = handlers;
    this.poller = poller;
    this.largeMemory = largeMemory;
    slabs = new SlabWriter(new SlabPool(options.receiveBudget()));
    this.counts = counts;
    this.events = events;
    rejections = new Rejections(types, events);
    this.virtualThreadName = virtualThreadName;
    maxVirtualThreads = options.maxVirtualThreads();
    shared = new Inbox[types.targetCount()];
    for (TypeEntry type : types.entries()) {
      share(type.receiver);
      share(type.requestHandler);
    }
  }

  private void share(Target<?> target) {
    if (target != null && target.dispatch == Dispatch.SERIAL) {
      shared[target.index] = newInbox(SHARED_MAILBOX, 1);
    } else if (target != null && target.dispatch == Dispatch.CONCURRENT) {
      shared[target.index] = newInbox(SHARED_MAILBOX, options.maxHandlers());
    }
  }

  /** Names the poller, on it, before all else. */
  void runOn(ThreadContext poller) {
    context = poller;
  }

  /** Makes the inbox of an ORDERED receiver for one node's messages. */
  public Inbox newInbox() {
    return newInbox(MAILBOX, 1);
  }

  private Inbox newInbox(int capacity, int most) {
    long rings = (long) RINGS_BEYOND * options.dataRingBytes();
    long budget = options.receiveBudget() / RINGS_BEYOND;
    Mailbox<Envelope> mailbox = new Mailbox<>(handlers, open, capacity, most);
    return new Inbox(
        mailbox, capacity, most == 1, Math.min(rings, budget), options.maxWaitingBytes());
  }

  /**
   * Delivers a message or a request, or queues it.
   *
   * @param largeBytes for a large message, the bytes that {@link LargeMemory} has counted for its
   *     memory and gets back once it was read; else 0, and the memory is copied if it must wait
   * @return false if there is no room for it now, so that the caller must try again later
   */
  boolean deliver(
      Connection connection,
      int typeIndex,
      byte kind,
      int slot,
      int generation,
      int limitUs,
      MemorySegment memory,
      long offset,
      int bytes,
      long largeBytes) {
    TypeEntry type = typeIndex < connection.types.length ? connection.types[typeIndex] : null;
    Target<?> target =
        type == null ? null : kind == Records.REQUEST ? type.requestHandler : type.receiver;
    if (target == null) {
      rejections.noHandler(connection, type, typeIndex, kind, slot, generation);
      largeMemory.giveBackRead(largeBytes, memory);
      return true;
    }
    if (target.dispatch == Dispatch.INLINE) {
      long deadline = limitUs == Records.NO_LIMIT ? 0 : System.nanoTime() + limitUs * 1000L;
      run(connection, type, kind, slot, generation, deadline, memory, offset, bytes);
      largeMemory.giveBackRead(largeBytes, memory);
      return true;
    }
    return post(
        connection,
        type,
        target,
        Records.what(typeIndex, kind),
        slot,
        generation,
        limitUs,
        memory,
        offset,
        bytes,
        largeBytes);
  }

  private boolean post(
      Connection connection,
      TypeEntry type,
      Target<?> target,
      int what,
      int slot,
      int generation,
      int limitUs,
      MemorySegment memory,
      long offset,
      int bytes,
      long largeBytes) {
    Inbox inbox = null;
    int waiting = 0;
    if (target.dispatch == Dispatch.VIRTUAL) {
      if (virtual.get() >= maxVirtualThreads) {
        return false;
      }
    } else {
      Inbox ofAll = shared[target.index];
      inbox = ofAll != null ? ofAll : connection.peer.inbox(target, this);
      waiting = inbox.waiting();
      if (inbox.tooMany(waiting, bytes)) {
        hold(connection, what, inbox);
        if (!inbox.hasRoom(waiting, bytes)) {
          return false;
        }
      }
    }
    Envelope envelope = envelopes.poll();
    if (envelope == null) {
      envelope = new Envelope();
    }
    if (largeBytes != 0) {
      envelope.memory = memory;
      envelope.offset = offset;
    } else if (!slabs.copy(envelope, inbox, waiting, memory, offset, bytes)) {
      envelopes.offer(envelope);
      return false;
    }
    envelope.largeBytes = largeBytes;
    envelope.bytes = bytes;
    envelope.connection = connection;
    envelope.type = type;
    envelope.kind = Records.kindOf(what);
    envelope.slot = slot;
    envelope.generation = generation;
    envelope.deadlineNs = limitUs == Records.NO_LIMIT ? 0 : System.nanoTime() + limitUs * 1000L;
    envelope.inbox = inbox;
    envelope.epoch = connection.deliveries.begin();
    boolean posted = false;
    try {
      if (inbox == null) {
        startVirtual(envelope);
      } else {
        inbox.put(envelope);
      }
      posted = true;
    } finally {
      if (!posted) { // no memory: the error goes to the caller
        takeBack(envelope);
      }
    }
    return true;
  }

  private void hold(Connection connection, int what, Inbox inbox) {
    if (inbox.hold(connection, what)) {
      holding.add(inbox);
      // Handlers may have emptied the inbox before they could see that a connection holds; then
      // none of them asks for the release. So look at the end of this turn, when what has made the
      // connection hold waits in the inbox, too.
      releaseWanted = true;
    }
  }

  /** Lets connections continue that hold for receivers with few enough messages. */
  void releaseHolders() {
    if (!releaseWanted) {
      return;
    }
    releaseWanted = false;
    VarHandle.fullFence();
    boolean all = false;
    try {
      for (int i = holding.size() - 1; i >= 0; i--) {
        Inbox inbox = holding.get(i);
        if (inbox.canRelease()) {
          inbox.release();
          holding.remove(i);
        }
      }
      all = true;
    } finally {
      if (!all) {
        releaseWanted = true;
      }
    }
  }

  private void startVirtual(Envelope envelope) {
    virtual.incrementAndGet();
    boolean started = false;
    try {
      Thread.ofVirtual().name(virtualThreadName).start(() -> onVirtual(envelope));
      started = true;
    } finally {
      if (!started) {
        virtual.decrementAndGet();
      }
    }
  }

  /** Releases an envelope that could not be queued; the memory of a large message stays counted. */
  private void takeBack(Envelope envelope) {
    envelope.connection.deliveries.end(envelope.epoch);
    if (envelope.slab != null) {
      envelope.slab.release();
    }
    if (envelope.inbox != null) {
      envelope.inbox.notPut(envelope);
    }
    envelope.clear();
    envelopes.offer(envelope);
  }

  private void onVirtual(Envelope envelope) {
    try {
      open(envelope);
    } catch (Throwable e) {
      events.internal("a virtual thread", e);
    } finally {
      virtual.decrementAndGet();
      if (roomWanted) {
        poller.wake();
      }
    }
  }

  /**
   * Asks for a wake-up after a failed delivery; true if that was asked before. If false, the caller
   * must try once more, as room may have been made before this request.
   */
  boolean askForRoom() {
    if (roomWanted) {
      return true;
    }
    roomWanted = true;
    VarHandle.fullFence();
    return false;
  }

  /** Withdraws {@link #askForRoom}: the poller left nothing unread in a whole turn. */
  void enoughRoom() {
    if (roomWanted) {
      roomWanted = false;
    }
  }

  /** Decodes a message that waited, and runs its receiver. On a handler or a virtual thread. */
  private void open(Envelope envelope) {
    Connection connection = envelope.connection;
    TypeEntry type = envelope.type;
    byte kind = envelope.kind;
    int slot = envelope.slot;
    int generation = envelope.generation;
    long deadline = envelope.deadlineNs;
    int epoch = envelope.epoch;
    ThreadContext own = ThreadContext.current();
    Object message = null;
    Throwable unreadable = null;
    boolean late = false;
    try {
      message = Decoder.read(own, type, false, envelope.memory, envelope.offset, envelope.bytes);
      late = kind == Records.REQUEST && hasPassed(deadline);
      if (!late) {
        counts.received();
      }
    } catch (Throwable e) { // thrown by the codec or a constructor: release the memory first
      unreadable = e;
    }
    Inbox inbox = envelope.inbox;
    if (inbox != null) {
      inbox.taken(envelope); // before the memory is released, which is a full fence
    }
    if (envelope.slab != null) {
      envelope.slab.release();
    }
    largeMemory.giveBackRead(envelope.largeBytes, envelope.memory);
    envelope.clear();
    envelopes.offer(envelope);
    if (inbox != null && inbox.canRelease()) {
      releaseWanted = true;
      poller.wake();
    }
    if (connection.deliveries.end(epoch) || roomWanted) {
      poller.wake();
    }
    if (late) {
      Thread.interrupted(); // as in finish: the codec may have done that
      return; // the requester has timed out
    }
    finish(connection, type, kind, slot, generation, deadline, message, unreadable);
  }

  private static boolean hasPassed(long deadline) {
    return deadline != 0 && System.nanoTime() - deadline > 0;
  }

  private void run(
      Connection connection,
      TypeEntry type,
      byte kind,
      int slot,
      int generation,
      long deadline,
      MemorySegment memory,
      long offset,
      int bytes) {
    Object message = null;
    Throwable unreadable = null;
    try {
      message = Decoder.read(context, type, true, memory, offset, bytes);
      counts.receivedOnPoller();
    } catch (Throwable e) { // thrown by the codec or a constructor
      unreadable = e;
    }
    finish(connection, type, kind, slot, generation, deadline, message, unreadable);
  }

  private void finish(
      Connection connection,
      TypeEntry type,
      byte kind,
      int slot,
      int generation,
      long deadline,
      Object message,
      Throwable unreadable) {
    if (unreadable != null) {
      rejections.unreadable(connection, type, kind, slot, generation, unreadable);
    } else {
      Object recorded = Recorded.beginHandler();
      if (kind == Records.REQUEST) {
        handle(connection, type, slot, generation, deadline, message);
      } else {
        receive(connection, type.receiver, type, message);
      }
      Recorded.handled(recorded, type.name(), connection.peer.id());
    }
    // The program's code may have interrupted this thread: that must not reach the next message,
    // nor keep the poller from sleeping.
    Thread.interrupted();
  }

  private void receive(
      Connection connection, Target<Receiver<Object>> target, TypeEntry type, Object message) {
    try {
      target.taker.receive(message, connection.peer);
    } catch (Throwable e) { // the program's: must not end this thread
      events.failed(connection.peer, type.name(), e);
    }
  }

  private void handle(
      Connection connection,
      TypeEntry type,
      int slot,
      int generation,
      long deadline,
      Object message) {
    Target<RequestHandler<Object>> target = type.requestHandler;
    ReceivedRequest request = new ReceivedRequest(connection, slot, generation, deadline);
    try {
      target.taker.handle(message, request);
      request.leave();
    } catch (Throwable e) { // the program's: must not end this thread
      events.failed(connection.peer, type.name(), e);
      request.failIfOpen(Thrown.text(e));
    }
  }
}

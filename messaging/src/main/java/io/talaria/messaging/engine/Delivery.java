// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Answerer;
import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Receiver;
import io.talaria.messaging.codec.SegmentIn;
import io.talaria.messaging.counters.Recorded;
import io.talaria.messaging.dispatch.BoundedQueue;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.dispatch.Mailbox;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Hands what was received to receivers and answerers. Its public face is the poller's. */
final class Delivery {
  private static final int MAILBOX = 1024;
  private static final int SHARED_MAILBOX = 1 << 14;
  private static final int ENVELOPES = 1 << 14;

  private final LocalNode node;
  private final Handlers handlers;
  private final BoundedQueue<Envelope> envelopes = new BoundedQueue<>(ENVELOPES);
  private final Consumer<Envelope> open = this::open;
  private final AtomicInteger virtual = new AtomicInteger();
  private final int virtualMax;

  /**
   * The poller has left something unread, of whatever connection, and is to be woken by whoever
   * makes room: set before it tries for the last time.
   */
  private volatile boolean roomWanted;

  /** Of the poller: being filled. */
  private Slab slab;

  Delivery(LocalNode node, Handlers handlers) {
    this.node = node;
    this.handlers = handlers;
    virtualMax = node.options().virtualMax();
    for (TypeEntry type : node.types().entries()) {
      share(type.receiver);
      share(type.answerer);
    }
  }

  private void share(Target<?> target) {
    if (target != null && target.dispatch == Dispatch.SERIAL) {
      target.shared = new Mailbox<>(handlers, open, SHARED_MAILBOX, 1);
    } else if (target != null && target.dispatch == Dispatch.CONCURRENT) {
      target.shared = new Mailbox<>(handlers, open, SHARED_MAILBOX, node.options().handlersMax());
    }
  }

  /**
   * Hands a message or a question on.
   *
   * @param largeBytes if the memory is of its own: so many bytes of the pool's, which are given
   *     back when it was read
   * @return false if that cannot be done now
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
        type == null ? null : kind == Records.REQUEST ? type.answerer : type.receiver;
    if (target == null) {
      nobody(connection, type, typeIndex, kind, slot, generation);
      node.giveBackLarge(largeBytes);
      return true;
    }
    if (target.dispatch == Dispatch.INLINE) {
      ThreadContext context = ThreadContext.current();
      long deadline = limitUs == 0 ? 0 : System.nanoTime() + limitUs * 1000L;
      run(context, connection, type, kind, slot, generation, deadline, memory, offset, bytes);
      node.giveBackLarge(largeBytes);
      return true;
    }
    return post(
        connection,
        type,
        target,
        kind,
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
      byte kind,
      int slot,
      int generation,
      int limitUs,
      MemorySegment memory,
      long offset,
      int bytes,
      long largeBytes) {
    Mailbox<Envelope> mailbox = null;
    if (target.dispatch == Dispatch.VIRTUAL) {
      if (virtual.get() >= virtualMax) {
        return false;
      }
    } else {
      mailbox = target.shared != null ? target.shared : connection.peer.mailbox(target, this);
      if (mailbox.size() >= (target.shared != null ? SHARED_MAILBOX : MAILBOX) - 1) {
        return false;
      }
    }
    Envelope envelope = envelopes.poll();
    if (envelope == null) {
      envelope = new Envelope();
    }
    if (largeBytes != 0) {
      envelope.memory = memory;
      envelope.offset = offset;
    } else if (!copy(envelope, memory, offset, bytes)) {
      boolean unused = envelopes.offer(envelope);
      return false;
    }
    envelope.largeBytes = largeBytes;
    envelope.bytes = bytes;
    envelope.connection = connection;
    envelope.type = type;
    envelope.kind = kind;
    envelope.slot = slot;
    envelope.generation = generation;
    envelope.deadlineNs = limitUs == 0 ? 0 : System.nanoTime() + limitUs * 1000L;
    envelope.epoch = connection.taken.begin();
    if (mailbox == null) {
      startVirtual(envelope);
    } else if (!mailbox.offer(envelope)) {
      takeBack(envelope); // a handler is about to leave the place
      return false;
    }
    return true;
  }

  private void startVirtual(Envelope envelope) {
    virtual.incrementAndGet();
    boolean started = false;
    try {
      Thread unused =
          Thread.ofVirtual().name(node.threadName("virtual")).start(() -> onVirtual(envelope));
      started = true;
    } finally {
      if (!started) { // no memory: that is told
        virtual.decrementAndGet();
        takeBack(envelope);
      }
    }
  }

  /** Undoes what was done for an envelope; large memory stays the caller's. */
  private void takeBack(Envelope envelope) {
    boolean unused = envelope.connection.taken.end(envelope.epoch);
    if (envelope.slab != null) {
      envelope.slab.release();
    }
    envelope.clear();
    unused = envelopes.offer(envelope);
  }

  private void onVirtual(Envelope envelope) {
    try {
      open(envelope);
    } catch (Throwable e) {
      node.internal("a virtual thread", e);
    } finally {
      virtual.decrementAndGet();
      if (roomWanted) {
        node.wakePoller();
      }
    }
  }

  /** After a delivery that failed: asks to be woken; whether that was asked before. Poller. */
  boolean askForRoom() {
    if (roomWanted) {
      return true;
    }
    roomWanted = true;
    VarHandle.fullFence();
    return false;
  }

  /** Nothing was left unread in a whole turn. Poller. */
  void enoughRoom() {
    if (roomWanted) {
      roomWanted = false;
    }
  }

  Mailbox<Envelope> newMailbox() {
    return new Mailbox<>(handlers, open, MAILBOX, 1);
  }

  private boolean copy(Envelope envelope, MemorySegment memory, long offset, int bytes) {
    int aligned = Records.aligned(bytes);
    if (slab == null || slab.used + aligned > Slab.BYTES) {
      Slab next = node.slabs().take();
      if (next == null) {
        return false;
      }
      if (slab != null) {
        slab.release();
      }
      slab = next;
    }
    MemorySegment.copy(memory, offset, slab.memory, slab.used, bytes);
    envelope.memory = slab.memory;
    envelope.offset = slab.used;
    envelope.slab = slab;
    slab.hold();
    slab.used += aligned;
    return true;
  }

  /** Runs what waited. A handler, or a virtual thread. */
  private void open(Envelope envelope) {
    Connection connection = envelope.connection;
    TypeEntry type = envelope.type;
    byte kind = envelope.kind;
    int slot = envelope.slot;
    int generation = envelope.generation;
    long deadline = envelope.deadlineNs;
    int epoch = envelope.epoch;
    ThreadContext context = ThreadContext.current();
    Object message = null;
    Throwable unreadable = null;
    try {
      message = read(context, type, false, envelope.memory, envelope.offset, envelope.bytes);
    } catch (Throwable e) { // of its codec or constructor; what was taken for it goes back
      unreadable = e;
    }
    if (envelope.slab != null) {
      envelope.slab.release();
    }
    node.giveBackLarge(envelope.largeBytes);
    envelope.clear();
    boolean unused = envelopes.offer(envelope);
    if (connection.taken.end(epoch) || roomWanted) {
      node.wakePoller();
    }
    finish(connection, type, kind, slot, generation, deadline, message, unreadable);
  }

  private void run(
      ThreadContext context,
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
      message = read(context, type, true, memory, offset, bytes);
    } catch (Throwable e) { // of its codec or constructor; what was taken for it goes back
      unreadable = e;
    }
    finish(connection, type, kind, slot, generation, deadline, message, unreadable);
  }

  private static Object read(
      ThreadContext context,
      TypeEntry type,
      boolean inline,
      MemorySegment memory,
      long offset,
      int bytes) {
    SegmentIn in = context.in.over(memory, offset, bytes);
    context.inCodec = true;
    try {
      Object message;
      if (inline && type.reuse != null) {
        Object old = type.reused == null ? type.reuse.get() : type.reused;
        message = type.codec.readInto(old, in);
        type.reused = message;
      } else {
        message = type.codec.read(in);
      }
      in.expectEnd();
      return message;
    } finally {
      context.inCodec = false;
      in.done();
    }
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
      String why = "its bytes cannot be read: " + Thrown.text(unreadable);
      node.dropped(connection.peer, type.name(), why);
      if (kind == Records.REQUEST) {
        connection.answerFailure(
            slot, generation, MessagingException.Code.TYPE_MISMATCH, type.name() + ": " + why);
      }
      return;
    }
    node.count().received();
    Object recorded = Recorded.beginHandler();
    if (kind == Records.REQUEST) {
      answer(connection, type, slot, generation, deadline, message);
    } else {
      receive(connection, type.receiver, type, message);
    }
    Recorded.handled(recorded, type.name(), connection.peer.id());
  }

  private void receive(
      Connection connection, Target<Receiver<Object>> target, TypeEntry type, Object message) {
    try {
      target.taker.receive(message, connection.peer);
    } catch (Throwable e) { // the program's; the thread goes on
      node.failedHere(connection.peer, type.name(), e);
    }
  }

  private void answer(
      Connection connection,
      TypeEntry type,
      int slot,
      int generation,
      long deadline,
      Object question) {
    if (deadline != 0 && System.nanoTime() - deadline > 0) {
      return; // nobody waits any more
    }
    Target<Answerer<Object>> target = type.answerer;
    AskedRequest request = new AskedRequest(node, connection, slot, generation, deadline);
    try {
      target.taker.answer(question, request);
      request.leave();
    } catch (Throwable e) { // the program's; the thread goes on
      node.failedHere(connection.peer, type.name(), e);
      request.failIfOpen(Thrown.text(e));
    }
  }

  private void nobody(
      Connection connection, TypeEntry type, int typeIndex, byte kind, int slot, int generation) {
    String name = typeIndex < connection.typeNames.length ? connection.typeNames[typeIndex] : "?";
    boolean mismatch = type == null && node.types().named(name) != null;
    String why;
    if (mismatch) {
      why = "the type has other components there" + connection.misfit(typeIndex);
    } else if (type == null) {
      why = "the type is not registered";
    } else {
      why = kind == Records.REQUEST ? "no answerer is registered" : "no receiver is registered";
    }
    node.dropped(connection.peer, name, why);
    if (kind == Records.REQUEST) {
      connection.answerFailure(
          slot,
          generation,
          mismatch ? MessagingException.Code.TYPE_MISMATCH : MessagingException.Code.NO_RECEIVER,
          name + ": " + why);
    }
  }
}

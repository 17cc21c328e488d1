// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Call;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.Peer;
import io.talaria.messaging.dispatch.Mailbox;
import io.talaria.messaging.road.Lane;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** A node as others send to it; the own one, too. */
final class RemotePeer implements Peer {
  private final LocalNode node;
  private final int id;
  private final Waiters connecting = new Waiters();
  private volatile Connection connection;

  /** Why there is none, or null as long as nobody has tried. */
  private volatile MessagingException problem;

  /** Whether the registrar has been told that a connection is wanted. */
  final AtomicBoolean requested = new AtomicBoolean();

  /** By the target's index; poller. */
  private final Mailbox<Envelope>[] mailboxes;

  @SuppressWarnings("unchecked")
  RemotePeer(LocalNode node, int id) {
    this.node = node;
    this.id = id;
    mailboxes = (Mailbox<Envelope>[]) new Mailbox<?>[node.types().targetCount()];
  }

  Mailbox<Envelope> mailbox(Target<?> target, Delivery delivery) {
    Mailbox<Envelope> mailbox = mailboxes[target.index];
    if (mailbox == null) {
      mailbox = delivery.newMailbox();
      mailboxes[target.index] = mailbox;
    }
    return mailbox;
  }

  @Override
  public int id() {
    return id;
  }

  Connection connection() {
    return connection;
  }

  /** There is one, or none any more. */
  void connection(Connection now) {
    if (now != null) {
      problem = null;
    }
    connection = now;
    connecting.wake();
  }

  void unreachable(MessagingException why) {
    problem = why;
    connecting.wake();
  }

  boolean somebodyWaits() {
    return !connecting.none();
  }

  @Override
  public long trySend(Object message) {
    Objects.requireNonNull(message, "message");
    ThreadContext context = ThreadContext.current();
    context.mustNotBeInCodec();
    TypeEntry type = node.types().of(message);
    if (node.closing()) {
      return CLOSED;
    }
    Connection now = connection;
    if (now == null) {
      node.want(this);
      return CONNECTING;
    }
    return now.put(context, type, message, Lane.BULK, Records.MESSAGE, 0, 0, 0);
  }

  @Override
  public long send(Object message) throws MessagingException {
    Objects.requireNonNull(message, "message");
    ThreadContext context = ThreadContext.current();
    context.mayWait();
    TypeEntry type = node.types().of(message);
    Connection now = connection;
    if (now != null && !node.closing()) {
      long result = now.put(context, type, message, Lane.BULK, Records.MESSAGE, 0, 0, 0);
      if (result > 0) {
        return result;
      }
    }
    return sendSlowly(
        context, type, message, Records.MESSAGE, null, 0, 0, deadline(node.sendLimitNs()));
  }

  private static long deadline(long limitNs) {
    return System.nanoTime() + Math.min(limitNs, Long.MAX_VALUE >> 2);
  }

  /** Waits for a connection and for room. */
  private long sendSlowly(
      ThreadContext context,
      TypeEntry type,
      Object message,
      byte kind,
      CallSlot slot,
      int generation,
      int limitUs,
      long deadlineNs)
      throws MessagingException {
    int slotIndex = slot == null ? 0 : slot.index;
    while (true) {
      Connection now = awaitConnection(deadlineNs);
      if (slot != null) {
        slot.connection = now;
      }
      long result =
          now.put(context, type, message, Lane.BULK, kind, slotIndex, generation, limitUs);
      if (result == TOO_LARGE) {
        result =
            sendLarge(now, context, type, message, kind, slot, generation, limitUs, deadlineNs);
      }
      if (result > 0) {
        return result;
      }
      if (result == NO_ROOM) {
        if (!now.awaitRoom(Lane.BULK, now.sliceBytes(), deadlineNs)) {
          throw noRoom();
        }
      } else {
        awaitEnd(now, deadlineNs);
      }
    }
  }

  private MessagingException noRoom() {
    return new MessagingException(
        Code.NO_ROOM,
        "node "
            + id
            + " has taken too little within the limit: its receivers are slow, or it stands still");
  }

  /** A sealed connection is on its way out. */
  private void awaitEnd(Connection old, long deadlineNs) throws MessagingException {
    boolean handler = node.beginWait();
    connecting.enter();
    try {
      while (connection == old) {
        park(deadlineNs, "the connection to node " + id + " is ending");
      }
    } finally {
      connecting.leave();
      node.endWait(handler);
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

  private Connection awaitConnection(long deadlineNs) throws MessagingException {
    Connection now = connection;
    node.mustBeOpen();
    if (now != null) {
      return now;
    }
    node.want(this);
    boolean handler = node.beginWait();
    connecting.enter();
    try {
      while ((now = connection) == null) {
        node.mustBeOpen();
        if (deadlineNs - System.nanoTime() <= 0) {
          MessagingException why = problem;
          throw why != null
              ? new MessagingException(why.code(), textOf(why))
              : new MessagingException(
                  Code.UNREACHABLE, "no connection to node " + id + " within the limit");
        }
        park(deadlineNs + 1_000_000, "no connection to node " + id);
      }
      return now;
    } finally {
      connecting.leave();
      node.endWait(handler);
    }
  }

  private static String textOf(MessagingException why) {
    return why.getMessage().substring(why.code().name().length() + 2);
  }

  /** In slices, between which others' messages go. */
  private long sendLarge(
      Connection now,
      ThreadContext context,
      TypeEntry type,
      Object message,
      byte kind,
      CallSlot slot,
      int generation,
      int limitUs,
      long deadlineNs)
      throws MessagingException {
    int size = Connection.encode(context, type, message);
    try {
      if (size > now.largestThere) {
        throw new MessagingException(
            Code.TOO_LARGE,
            type.name()
                + " of "
                + size
                + " bytes, the largest that node "
                + id
                + " takes has "
                + now.largestThere
                + " (NodeOptions.largest)");
      }
      MemorySegment memory = context.scratch(size);
      int slotIndex = slot == null ? 0 : slot.index;
      int stream = now.newStream();
      long result = LOST;
      for (int sent = 0; sent < size; ) {
        int length = Math.min(now.slicePayload(), size - sent);
        result =
            now.putSlice(
                memory,
                sent,
                length,
                size,
                stream,
                type.index,
                Lane.BULK,
                kind,
                slotIndex,
                generation,
                limitUs);
        if (result > 0) {
          sent += length;
        } else if (result != NO_ROOM) {
          return result;
        } else if (!now.awaitRoom(Lane.BULK, now.sliceBytes(), later(deadlineNs, sent))) {
          abort(now, stream, size, type, kind);
          throw noRoom();
        }
      }
      return result;
    } finally {
      context.scratchUsed();
    }
  }

  /** A large message may take longer than the limit, but no slice may. */
  private long later(long deadlineNs, int sent) {
    return sent == 0 ? deadlineNs : deadline(node.sendLimitNs());
  }

  private static void abort(Connection now, int stream, int total, TypeEntry type, byte kind) {
    // If there is no room for it either, what was sent stays there until the connection ends.
    long unused =
        now.putSlice(
            MemorySegment.NULL,
            0,
            0,
            total,
            stream,
            type.index,
            Lane.BULK,
            kind,
            Records.ABORT,
            0,
            0);
  }

  @Override
  public boolean awaitTaken(long ticket, long limitNs) throws MessagingException {
    ThreadContext.current().mayWait();
    if (ticket <= 0) {
      throw new IllegalArgumentException("ticket is " + ticket + ", it must be positive");
    }
    Connection now = connection;
    if (now == null) {
      throw new MessagingException(Code.LOST, "there is no connection to node " + id);
    }
    return now.awaitTaken(ticket, deadline(limitNs));
  }

  @Override
  public <A> A ask(Object question, Class<A> answer, long limitNs) throws MessagingException {
    PendingCall<A> call = begin(question, answer, limitNs);
    return call.result();
  }

  @Override
  public <A> Call<A> call(Object question, Class<A> answer, long limitNs)
      throws MessagingException {
    return begin(question, answer, limitNs);
  }

  private <A> PendingCall<A> begin(Object question, Class<A> answer, long limitNs)
      throws MessagingException {
    Objects.requireNonNull(question, "question");
    ThreadContext context = ThreadContext.current();
    context.mayWait();
    TypeEntry type = node.types().of(question);
    TypeEntry unused = node.types().ofClass(answer);
    long deadline = deadline(limitNs);
    int limitUs = Math.clamp(limitNs / 1000, 1, Integer.MAX_VALUE);
    CallSlot slot = node.calls().take();
    if (slot == null) {
      throw new MessagingException(Code.NO_ROOM, "65536 questions are under way already");
    }
    int generation = slot.open();
    boolean sent = false;
    try {
      Connection now = connection;
      long result = LOST;
      if (now != null && !node.closing()) {
        slot.connection = now;
        result =
            now.put(
                context,
                type,
                question,
                Lane.BULK,
                Records.REQUEST,
                slot.index,
                generation,
                limitUs);
      }
      if (result <= 0) {
        long until = Math.min(deadline, deadline(node.sendLimitNs()));
        long ticket =
            sendSlowly(context, type, question, Records.REQUEST, slot, generation, limitUs, until);
        sent = ticket > 0;
      }
      sent = true;
      return new PendingCall<>(node, this, slot, generation, answer, deadline);
    } finally {
      if (!sent) {
        // Nobody can answer it, but the end of a connection may be telling it.
        while (!slot.giveUp(generation) && !slot.done(generation)) {
          Thread.onSpinWait();
        }
        slot.reset(generation);
        node.calls().giveBack(slot);
      }
    }
  }

  @Override
  public boolean connected() {
    return connection != null;
  }

  @Override
  public String road() {
    Connection now = connection;
    return now == null ? null : now.track().road();
  }

  @Override
  public String reason() {
    Connection now = connection;
    if (now != null) {
      return now.track().reason();
    }
    MessagingException why = problem;
    return why == null ? "not connected yet" : why.getMessage();
  }

  @Override
  public long room() {
    Connection now = connection;
    return now == null ? 0 : now.roomBytes();
  }

  @Override
  public String toString() {
    return "node " + id;
  }
}

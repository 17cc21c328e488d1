// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Codec;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.road.Lane;
import io.talaria.messaging.road.StreamTrack;
import io.talaria.messaging.road.Track;
import io.talaria.messaging.road.TrackOwner;
import io.talaria.nio.spin.Spinner;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * An established connection to a node. Any thread sends; the poller receives, and a thread that
 * waits for an answer may take the inlet of express meanwhile.
 */
final class Connection implements TrackOwner {
  /** The largest slice of a large message, with its header. */
  private static final int MOST_SLICE = 32 << 10;

  /** Explicit codecs write more than this elsewhere first: a claim shall not last. */
  private static final int MOST_IN_PLACE = 4096;

  private static final int TURN = 256;
  private static final int TICKET_BITS = 43;
  private static final long POSITION_MASK = (1L << TICKET_BITS) - 1;
  private static final int NUMBER_MASK = (1 << 19) - 1;
  private static final int LEADER_LOOKS = 200;

  /** In their order on the wire: new ones come last. */
  private static final List<MessagingException.Code> CODES =
      List.of(MessagingException.Code.values());

  /** A stream tells so often what is free, unless much is. */
  private static final long TELL_NS = 1_000_000;

  final LocalNode node;
  final RemotePeer peer;
  final int number;
  final long incarnation;

  /** Own entries of the other node's types, by its index; null where there is none. */
  final TypeEntry[] types;

  /** The names of the other node's types. */
  final String[] typeNames;

  /** The largest message that the other node takes. */
  final int largestThere;

  final Waiters waiters = new Waiters();
  final Taken taken = new Taken();
  private final Assembly bulkAssembly;
  private final Assembly expressAssembly;
  private final Outbox outbox;
  private final AtomicBoolean inletLock = new AtomicBoolean();
  private final AtomicInteger streams = new AtomicInteger();

  private Track track;
  private RingProducer bulk;
  private RingProducer express;
  private int sliceBytes;

  /** Under the inlet lock. */
  private Spinner leaderSpinner;

  /** Generations of calls from there that were cancelled, by slot; made when the first is. */
  private volatile int[] cancelled;

  private volatile String failure;
  private volatile boolean dead;

  /** Bytes were seen since the registrar last looked. */
  volatile boolean heard;

  /** The other end said GOODBYE, or we did. */
  volatile boolean leaving;

  // Of the poller.
  boolean readable;
  boolean stalled;
  boolean interestLent;
  private long publishedTaken;
  private long toldNs;

  /** The one before of the same node, which is to be emptied first; poller. */
  Connection predecessor;

  Connection(
      LocalNode node,
      RemotePeer peer,
      int number,
      long incarnation,
      TypeEntry[] types,
      String[] typeNames,
      int largestThere) {
    this.node = node;
    this.peer = peer;
    this.number = number;
    this.incarnation = incarnation;
    this.types = types;
    this.typeNames = typeNames;
    this.largestThere = largestThere;
    bulkAssembly = new Assembly(this);
    expressAssembly = new Assembly(this);
    outbox = new Outbox(this);
  }

  /** Once, before anybody else knows it. */
  void runOn(Track road) {
    track = road;
    bulk = road.out(Lane.BULK);
    express = road.out(Lane.EXPRESS);
    sliceBytes = Math.min(MOST_SLICE, Math.min(bulk.capacity(), express.capacity()) >>> 3) & -8;
    leaderSpinner = new Spinner(node.leaderSpinning());
  }

  Track track() {
    return track;
  }

  boolean dead() {
    return dead;
  }

  int sliceBytes() {
    return sliceBytes;
  }

  // ---- sending

  private static int codecSize(ThreadContext context, Codec<Object> codec, Object message) {
    context.inCodec = true;
    try {
      int size = codec.size(message);
      if (size < 0) {
        throw new IllegalStateException(
            "the codec of " + message.getClass().getName() + " says a size of " + size);
      }
      return size;
    } finally {
      context.inCodec = false;
    }
  }

  private static void codecWrite(
      ThreadContext context,
      TypeEntry type,
      Object message,
      MemorySegment memory,
      long at,
      int size) {
    context.inCodec = true;
    try {
      type.codec.write(message, context.out.over(memory, at, size));
      int left = context.out.remaining();
      if (left != 0) {
        throw new IllegalStateException(
            "the codec of "
                + type.name()
                + " wrote "
                + (size - left)
                + " bytes, its size said "
                + size);
      }
    } finally {
      context.out.done();
      context.inCodec = false;
    }
  }

  /**
   * Puts a record into a ring, written in place.
   *
   * @return a ticket; or a negative one of {@link Peer}
   */
  long put(
      ThreadContext context,
      TypeEntry type,
      Object message,
      int lane,
      byte kind,
      int slot,
      int generation,
      int limitUs) {
    int size = codecSize(context, type.codec, message);
    if (size > largestThere) {
      return Peer.TOO_LARGE;
    }
    if (type.explicit && size > MOST_IN_PLACE) {
      MemorySegment scratch = context.scratch(size);
      codecWrite(context, type, message, scratch, 0, size);
      long result = putRaw(scratch, 0, size, type.index, lane, kind, slot, generation, limitUs);
      context.scratchUsed();
      return result;
    }
    int header = Records.headerOf(kind);
    int bytes = Records.aligned(header + size);
    if (bytes > sliceBytes || bytes < 0) {
      return Peer.TOO_LARGE;
    }
    RingProducer ring = lane == Lane.BULK ? bulk : express;
    try {
      long claim = ring.tryClaim(bytes);
      if (claim < 0) {
        return refused(claim);
      }
      boolean good = false;
      try {
        MemorySegment memory = ring.memory();
        long at = ring.offset(claim);
        writeHeader(memory, at, header + size, type.index, kind, slot, generation, limitUs);
        codecWrite(context, type, message, memory, at + header, size);
        good = true;
      } finally {
        if (good) {
          ring.commit(claim, bytes);
        } else {
          ring.abandon(claim, bytes);
        }
      }
      return committed(ring, claim, bytes);
    } catch (IllegalStateException e) {
      if (dead) {
        return Peer.LOST; // unmapped meanwhile
      }
      throw e;
    } catch (RingBrokenException e) {
      failed("protocol: " + e.getMessage());
      return Peer.LOST;
    }
  }

  private static void writeHeader(
      MemorySegment memory,
      long at,
      int length,
      int type,
      byte kind,
      int slot,
      int generation,
      int limitUs) {
    Records.header(memory, at, length, type, kind);
    if (kind != Records.MESSAGE) {
      Records.call(memory, at, slot, generation);
      if (kind == Records.REQUEST) {
        Records.limit(memory, at, limitUs);
      }
    }
  }

  private static long refused(long claim) {
    return claim == RingProducer.NO_ROOM ? Peer.NO_ROOM : Peer.LOST;
  }

  private long committed(RingProducer ring, long claim, int bytes) {
    if (ring.mustWake()) {
      track.wakePeer();
    }
    return ticket(ring.endOf(claim, bytes));
  }

  private long ticket(long position) {
    return (long) (number & NUMBER_MASK) << TICKET_BITS | position;
  }

  /** Puts what was encoded before. */
  long putRaw(
      MemorySegment from,
      long offset,
      int size,
      int type,
      int lane,
      byte kind,
      int slot,
      int generation,
      int limitUs) {
    int header = Records.headerOf(kind);
    int bytes = Records.aligned(header + size);
    if (bytes > sliceBytes || bytes < 0) {
      return Peer.TOO_LARGE;
    }
    RingProducer ring = lane == Lane.BULK ? bulk : express;
    try {
      long claim = ring.tryClaim(bytes);
      if (claim < 0) {
        return refused(claim);
      }
      MemorySegment memory = ring.memory();
      long at = ring.offset(claim);
      if (kind == Records.MESSAGE || header > Records.HEADER) {
        writeHeader(memory, at, header + size, type, kind, slot, generation, limitUs);
      } else {
        Records.header(memory, at, header + size, type, kind);
      }
      MemorySegment.copy(from, offset, memory, at + header, size);
      ring.commit(claim, bytes);
      return committed(ring, claim, bytes);
    } catch (IllegalStateException e) {
      if (dead) {
        return Peer.LOST;
      }
      throw e;
    } catch (RingBrokenException e) {
      failed("protocol: " + e.getMessage());
      return Peer.LOST;
    }
  }

  int newStream() {
    return streams.incrementAndGet();
  }

  /** Puts a slice of a large message. */
  long putSlice(
      MemorySegment from,
      int offset,
      int length,
      int total,
      int stream,
      int type,
      int lane,
      byte whole,
      int slot,
      int generation,
      int limitUs) {
    int bytes = Records.aligned(Records.SLICE_HEADER + length);
    RingProducer ring = lane == Lane.BULK ? bulk : express;
    try {
      long claim = ring.tryClaim(bytes);
      if (claim < 0) {
        return refused(claim);
      }
      MemorySegment memory = ring.memory();
      long at = ring.offset(claim);
      Records.header(memory, at, Records.SLICE_HEADER + length, type, Records.SLICE);
      Records.slice(memory, at, stream, offset, total, whole);
      Records.sliceCall(memory, at, slot, generation, limitUs);
      MemorySegment.copy(from, offset, memory, at + Records.SLICE_HEADER, length);
      ring.commit(claim, bytes);
      return committed(ring, claim, bytes);
    } catch (IllegalStateException e) {
      if (dead) {
        return Peer.LOST;
      }
      throw e;
    } catch (RingBrokenException e) {
      failed("protocol: " + e.getMessage());
      return Peer.LOST;
    }
  }

  /** The most bytes of a large message in one slice. */
  int slicePayload() {
    return sliceBytes - Records.SLICE_HEADER & -8;
  }

  /** Encodes into the thread's scratch; returns the size. */
  static int encode(ThreadContext context, TypeEntry type, Object message) {
    int size = codecSize(context, type.codec, message);
    codecWrite(context, type, message, context.scratch(size), 0, size);
    return size;
  }

  /** Waits for room, or until the connection or the time ends. */
  boolean awaitRoom(int lane, long bytesWanted, long deadlineNs) throws MessagingException {
    RingProducer ring = lane == Lane.BULK ? bulk : express;
    boolean handler = node.beginWait();
    waiters.enter();
    try {
      while (!dead && !ring.sealed()) {
        ring.want();
        if (ring.hasRoom(bytesWanted)) {
          return true;
        }
        if (!park(deadlineNs)) {
          return false;
        }
      }
      return true;
    } catch (IllegalStateException e) {
      if (dead) {
        return true;
      }
      throw e;
    } catch (RingBrokenException e) {
      failed("protocol: " + e.getMessage());
      return true;
    } finally {
      leaveWaiters(ring);
      node.endWait(handler);
    }
  }

  private void leaveWaiters(RingProducer ring) {
    waiters.leave();
    try {
      if (waiters.none()) {
        ring.wantNoMore();
      }
    } catch (IllegalStateException e) {
      if (!dead) {
        throw e;
      }
    }
  }

  private static boolean park(long deadlineNs) throws MessagingException {
    long left = deadlineNs - System.nanoTime();
    if (left <= 0) {
      return false;
    }
    LockSupport.parkNanos(left);
    if (Thread.currentThread().isInterrupted()) {
      throw new MessagingException(
          MessagingException.Code.CANCELLED, "the thread was interrupted while it waited");
    }
    return true;
  }

  /** See {@link Peer#awaitTaken}. */
  boolean awaitTaken(long ticket, long deadlineNs) throws MessagingException {
    if (ticket >>> TICKET_BITS != (number & NUMBER_MASK)) {
      throw new MessagingException(
          MessagingException.Code.LOST, "the connection of ticket " + ticket + " has ended");
    }
    long position = ticket & POSITION_MASK;
    boolean handler = node.beginWait();
    waiters.enter();
    try {
      while (true) {
        bulk.want();
        if (isTaken(position)) {
          return true;
        }
        if (dead) {
          throw new MessagingException(MessagingException.Code.LOST, failure());
        }
        if (!park(deadlineNs)) {
          return false;
        }
      }
    } catch (IllegalStateException e) {
      if (dead) {
        throw new MessagingException(MessagingException.Code.LOST, failure());
      }
      throw e;
    } finally {
      leaveWaiters(bulk);
      node.endWait(handler);
    }
  }

  private boolean isTaken(long position) {
    long behind = (bulk.taken() - position) & POSITION_MASK;
    return behind <= POSITION_MASK >>> 1;
  }

  long roomBytes() {
    try {
      return dead ? 0 : Math.max(0, bulk.capacity() - bulk.unconsumedBytes());
    } catch (IllegalStateException | RingBrokenException e) {
      return 0;
    }
  }

  // ---- answers and control; never waits

  /** Sends an answer, now or when there is room. */
  void answer(ThreadContext context, TypeEntry type, Object answer, int slot, int generation) {
    long result = Peer.TOO_LARGE;
    if (outbox.isEmpty()) {
      result = put(context, type, answer, Lane.EXPRESS, Records.ANSWER, slot, generation, 0);
    }
    if (result == Peer.TOO_LARGE || result == Peer.NO_ROOM) {
      int size = encode(context, type, answer);
      if (size > largestThere) {
        context.scratchUsed();
        answerFailure(
            slot,
            generation,
            MessagingException.Code.TOO_LARGE,
            "the answer has " + size + " bytes, the largest may have " + largestThere);
        return;
      }
      boolean put =
          outbox.put(context.scratch(size), size, type.index, Records.ANSWER, slot, generation);
      context.scratchUsed();
      if (!put) {
        answerFailure(
            slot, generation, MessagingException.Code.NO_ROOM, "too many answers wait for room");
      }
    }
  }

  /** Tells that there will be no answer. */
  void answerFailure(int slot, int generation, MessagingException.Code code, String text) {
    byte[] utf8 = String.valueOf(text).getBytes(StandardCharsets.UTF_8);
    int length = Math.min(utf8.length, 1000);
    byte[] payload = new byte[1 + length];
    payload[0] = (byte) CODES.indexOf(code);
    System.arraycopy(utf8, 0, payload, 1, length);
    control(Records.FAILURE, slot, generation, payload);
  }

  private static final byte[] NOTHING = {};

  void control(byte kind, int slot, int generation) {
    control(kind, slot, generation, NOTHING);
  }

  private void control(byte kind, int slot, int generation, byte[] payload) {
    MemorySegment from =
        payload.length == 0
            ? MemorySegment.NULL
            : Arena.ofAuto().allocate(payload.length).copyFrom(MemorySegment.ofArray(payload));
    long result = putRaw(from, 0, payload.length, 0, Lane.EXPRESS, kind, slot, generation, 0);
    if (result == Peer.NO_ROOM && kind != Records.PING) {
      boolean unused = outbox.put(from, payload.length, 0, kind, slot, generation);
    }
  }

  // ---- receiving; poller, and leaders for express

  /** One turn of the poller; whether anything was done. */
  boolean poll() {
    boolean done = false;
    try {
      if (inletLock.compareAndSet(false, true)) {
        try {
          if (readable) {
            boolean came = track.pull();
            readable = came;
            heard |= came;
            done = came;
          }
          done |= drainExpress();
        } finally {
          inletLock.set(false);
        }
      }
      done |= drainBulk();
      done |= outbox.flush();
      done |= track.session() != null && !track.blocked() && track.push();
    } catch (RingBrokenException e) {
      failed("protocol: " + e.getMessage());
    }
    return done;
  }

  /** Whether anything may come for the inlet's holder alone. */
  boolean inletTaken() {
    return inletLock.get();
  }

  private boolean drainExpress() {
    Inlet in = track.in(Lane.EXPRESS);
    int count = 0;
    for (int room; count < TURN && (room = in.peek()) != 0; count++) {
      MemorySegment memory = in.memory();
      long at = in.offset();
      byte kind = Records.kind(memory, at);
      express(memory, at, checkedLength(memory, at, kind, room), kind);
      in.advance();
    }
    if (count != 0) {
      heard = true;
      if (!isStream() || in.unpublishedBytes() > track.out(Lane.EXPRESS).capacity() >>> 3) {
        tellExpress(in);
      }
    }
    return count != 0;
  }

  /** Tells the other end what is free: at once in memory, seldom on a stream. */
  private void tellExpress(Inlet in) {
    in.publish();
    track.published(Lane.EXPRESS);
  }

  /** A record's length, read once: with its header, and inside its place in the ring. */
  private static int checkedLength(MemorySegment memory, long at, byte kind, int room) {
    int length = Records.length(memory, at);
    if (length < Records.headerOf(kind) || length > room) {
      throw new RingBrokenException(
          "a record of kind " + kind + " says " + length + " bytes, its place has " + room);
    }
    return length;
  }

  private void express(MemorySegment memory, long at, int length, byte kind) {
    int header = Records.headerOf(kind);
    switch (kind) {
      case Records.ANSWER ->
          completeAnswer(
              Records.slot(memory, at),
              Records.generation(memory, at),
              Records.type(memory, at),
              memory,
              at + header,
              length - header);
      case Records.FAILURE -> completeFailure(memory, at, length);
      case Records.SLICE -> expressAssembly.slice(memory, at, length);
      case Records.CANCEL -> cancel(Records.slot(memory, at), Records.generation(memory, at));
      case Records.PING -> control(Records.PONG, 0, 0);
      case Records.PONG -> {
        // Heard.
      }
      case Records.GOODBYE, Records.STAY -> node.registrarHears(this, kind);
      default -> throw new RingBrokenException("a record of kind " + kind + " on express");
    }
  }

  void completeAnswer(
      int slot, int generation, int type, MemorySegment memory, long offset, int bytes) {
    CallSlot call = node.calls().at(slot);
    TypeEntry entry = type < types.length ? types[type] : null;
    if (call == null || !call.answer(this, generation, entry, memory, offset, bytes)) {
      node.count().late();
    }
  }

  private void completeFailure(MemorySegment memory, long at, int length) {
    int payload = length - Records.CALL_HEADER;
    byte[] bytes = new byte[payload];
    MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at + Records.CALL_HEADER, bytes, 0, payload);
    if (payload < 1 || bytes[0] < 0 || bytes[0] >= CODES.size()) {
      throw new RingBrokenException("a failure without a code");
    }
    String text = new String(bytes, 1, payload - 1, StandardCharsets.UTF_8);
    CallSlot call = node.calls().at(Records.slot(memory, at));
    if (call == null
        || !call.fail(this, Records.generation(memory, at), CODES.get(bytes[0]), text)) {
      node.count().late();
    }
  }

  private void cancel(int slot, int generation) {
    if (slot < 0 || slot >= 1 << 16) {
      throw new RingBrokenException("slot " + slot + " is cancelled");
    }
    int[] table = cancelled;
    if (table == null) {
      table = new int[1 << 16];
      cancelled = table;
    }
    table[slot] = generation + 1;
  }

  boolean isCancelled(int slot, int generation) {
    int[] table = cancelled;
    return dead
        || (table != null && slot >= 0 && slot < table.length && table[slot] == generation + 1);
  }

  private boolean drainBulk() {
    if (predecessor != null) {
      if (!predecessor.emptied()) {
        return false;
      }
      predecessor = null;
    }
    Inlet in = track.in(Lane.BULK);
    int count = 0;
    stalled = false;
    for (int room; count < TURN && (room = in.peek()) != 0; ) {
      MemorySegment memory = in.memory();
      long at = in.offset();
      byte kind = Records.kind(memory, at);
      if (bulk(memory, at, checkedLength(memory, at, kind, room), kind)) {
        in.advance();
        count++;
      } else if (node.delivery().askForRoom()) {
        stalled = true; // asked before this attempt, so whoever makes room wakes the poller
        break;
      }
    }
    heard |= count != 0;
    tellTaken(in);
    return count != 0;
  }

  /** Tells the other end what is free and taken: at once in memory, seldom on a stream. */
  private void tellTaken(Inlet in) {
    long position = taken.update(in.position());
    if (position == publishedTaken && in.unpublishedBytes() == 0) {
      return;
    }
    if (isStream() && in.unpublishedBytes() <= track.out(Lane.BULK).capacity() >>> 3) {
      long now = System.nanoTime();
      if (now - toldNs < TELL_NS) {
        return;
      }
      toldNs = now;
    }
    tell(in, position);
  }

  private void tell(Inlet in, long position) {
    publishedTaken = position;
    in.publishTaken(position);
    in.publish();
    track.published(Lane.BULK);
  }

  private boolean bulk(MemorySegment memory, long at, int length, byte kind) {
    int header = Records.headerOf(kind);
    if (kind == Records.SLICE) {
      return bulkAssembly.slice(memory, at, length);
    }
    if (kind != Records.MESSAGE && kind != Records.REQUEST) {
      throw new RingBrokenException("a record of kind " + kind + " on bulk");
    }
    boolean asks = kind == Records.REQUEST;
    return node.delivery()
        .deliver(
            this,
            Records.type(memory, at),
            kind,
            asks ? Records.slot(memory, at) : 0,
            asks ? Records.generation(memory, at) : 0,
            asks ? Records.limitUs(memory, at) : 0,
            memory,
            at + header,
            length - header,
            0);
  }

  /** Whether all that came before the end was taken in. Poller. */
  boolean emptied() {
    return dead;
  }

  /** Announces sleep on all inlets; false if something is there. Poller. */
  boolean arm() {
    if (dead) {
      return true;
    }
    try {
      return armAll();
    } catch (RingBrokenException e) {
      failed("protocol: " + e.getMessage());
      return false;
    }
  }

  private boolean armAll() {
    if (inletLock.compareAndSet(false, true)) {
      try {
        track.arm(Lane.EXPRESS);
        Inlet answers = track.in(Lane.EXPRESS);
        if (answers.peek() != 0) {
          return false;
        }
        if (answers.unpublishedBytes() != 0) {
          tellExpress(answers);
        }
      } finally {
        inletLock.set(false);
      }
    }
    track.arm(Lane.BULK);
    if (!stalled && predecessor == null && track.in(Lane.BULK).peek() != 0) {
      return false;
    }
    Inlet in = track.in(Lane.BULK);
    long position = taken.update(in.position());
    if (isStream() && (position != publishedTaken || in.unpublishedBytes() != 0)) {
      tell(in, position);
      boolean unused = track.push();
    }
    return !readable && track.armOutput() && outbox.blocked();
  }

  void disarm() {
    if (dead) {
      return;
    }
    if (inletLock.compareAndSet(false, true)) {
      track.disarm(Lane.EXPRESS);
      inletLock.set(false);
    }
    track.disarm(Lane.BULK);
    track.disarmOutput();
  }

  // ---- leading: who waits for an answer looks for it

  /** Looks for an answer for a while; whether it is there. */
  boolean lead(CallSlot slot, int generation, long deadlineNs) {
    if (!inletLock.compareAndSet(false, true)) {
      for (int i = 0; i < LEADER_LOOKS; i++) {
        if (slot.done(generation)) {
          return true;
        }
        Thread.onSpinWait();
      }
      return false;
    }
    node.leaders().incrementAndGet();
    boolean found = false;
    boolean bulkCame = false;
    try {
      boolean stream = isStream();
      boolean unusedPush = track.push();
      track.disarm(Lane.EXPRESS);
      if (leaderSpinner.start()) {
        do {
          if (stream) {
            bulkCame |= track.pull();
          }
          boolean unused = drainExpress();
          found = slot.done(generation);
        } while (!found && !dead && leaderSpinner.goOn() && System.nanoTime() < deadlineNs);
        leaderSpinner.stop(found);
      }
    } catch (RingBrokenException e) {
      failed("protocol: " + e.getMessage());
    } catch (IllegalStateException e) {
      if (!dead) {
        throw e;
      }
    } finally {
      inletLock.set(false);
      node.leaders().decrementAndGet();
    }
    leave(bulkCame);
    return found;
  }

  /** The poller may have gone to sleep while we had the inlet: then it is for us to announce it. */
  private void leave(boolean bulkCame) {
    VarHandle.fullFence();
    if (!node.pollerSleeps() || dead) {
      return;
    }
    boolean look = bulkCame;
    if (inletLock.compareAndSet(false, true)) {
      try {
        track.arm(Lane.EXPRESS);
        look |= track.in(Lane.EXPRESS).peek() != 0;
      } catch (RingBrokenException e) {
        look = true;
      } catch (IllegalStateException e) {
        if (!dead) {
          throw e;
        }
      } finally {
        inletLock.set(false);
      }
    }
    if (look) {
      node.wakePoller();
    }
  }

  // ---- the end

  @Override
  public void wakePoller() {
    node.wakePoller();
  }

  @Override
  public void wakeWaiters() {
    waiters.wake();
    if (!outbox.isEmpty()) {
      node.wakePoller(); // it waits for room, too
    }
  }

  @Override
  public void failed(String reason) {
    if (failure == null) {
      failure = reason;
    }
    node.pollerShallDrop(this, reason);
  }

  boolean isStream() {
    return track instanceof StreamTrack;
  }

  String failureOr(String reason) {
    String why = failure;
    return why == null ? reason : why;
  }

  String failure() {
    String why = failure;
    return why == null ? "the connection to node " + peer.id() + " has ended" : why;
  }

  /** No more is sent from here. Any thread. */
  void seal() {
    try {
      bulk.seal();
      express.seal();
    } catch (IllegalStateException e) {
      if (!dead) {
        throw e;
      }
    }
  }

  /** Bytes sent and not taken out of the ring at the other end. */
  long unconsumedBytes() {
    try {
      return bulk.unconsumedBytes() + express.unconsumedBytes();
    } catch (RingBrokenException | IllegalStateException e) {
      return 0;
    }
  }

  boolean outboxEmpty() {
    return outbox.isEmpty();
  }

  /** Changes when something but control was sent or received. For a look now and then. */
  long activity() {
    try {
      return bulk.claimed() * 31 + track.in(Lane.BULK).position();
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  /** Nothing waits in it, is under way, or was lately used: it may go. */
  boolean idle() {
    return unconsumedBytes() == 0 && outbox.isEmpty() && taken.none() && waiters.none();
  }

  /** It is over: what is left is not read any more. Poller. */
  long bury(String reason) {
    if (failure == null) {
      failure = reason;
    }
    seal();
    long lost = unconsumedBytes();
    dead = true;
    bulkAssembly.forget();
    while (!inletLock.compareAndSet(false, true)) {
      Thread.onSpinWait(); // a leader sees that it is dead
    }
    expressAssembly.forget();
    inletLock.set(false);
    boolean own = node.closing();
    node.calls()
        .failAll(
            this,
            own ? MessagingException.Code.CLOSED : MessagingException.Code.LOST,
            own ? "this node was closed" : failure());
    waiters.wake();
    return lost;
  }

  /** Whether nobody writes into its rings any more. Registrar. */
  boolean quiet() {
    return bulk.quiet() && express.quiet();
  }
}

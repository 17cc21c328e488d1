// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingReceiver;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.RingPair;
import io.talaria.nio.spin.Spinner;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * An established connection to a node. Any thread sends. The poller receives; a thread that waits
 * for a response, a <i>leader</i>, may acquire the ring receiver of the control ring and poll it
 * instead.
 */
final class Connection implements LinkOwner {
  private static final int TURN = 256;
  private static final int LEADER_LOOKS = 200;

  /** The order is part of the wire format: new codes must come last. */
  private static final List<MessagingException.Code> CODES =
      List.of(MessagingException.Code.values());

  /**
   * The least time between two messages of a stream about what was delivered and is free, unless
   * more than an eighth of the ring is free and untold.
   */
  private static final long TELL_NS = 1_000_000;

  final LocalNode node;
  final RemotePeer peer;
  final int number;
  final long incarnation;

  /** This node's entries for the other node's types, by the other's index; null if none fits. */
  final TypeEntry[] types;

  /** The names of the other node's types. */
  final String[] typeNames;

  /** Why a type does not fit this node's type of the same name; null where that is not known. */
  private final String[] misfits;

  /** The largest message that the other node accepts, in bytes. */
  final int maxThere;

  final DeliveryTracker deliveries = new DeliveryTracker();
  private final Reassembly dataReassembly;
  private final Reassembly controlReassembly;
  private final Outbox outbox;
  private final AtomicBoolean ringReceiverLock = new AtomicBoolean();
  private final AtomicInteger streams = new AtomicInteger();

  private Link link;
  private Sender sender;

  /** Guarded by the ring receiver lock. */
  private Spinner leaderSpinner;

  /**
   * Whether a leader has received something that the poller must look at. Guarded by the ring
   * receiver lock.
   */
  private boolean dataCame;

  /** The position behind the data ring's last record; -1 until the other end's GOODBYE says it. */
  private volatile long endThere = -1;

  /** By priority: 1 while the conductor has a request for a larger ring, else 0. */
  private final AtomicIntegerArray growthAsked = new AtomicIntegerArray(RingPair.COUNT);

  /** A permit for each large message that may be begun. */
  private final Semaphore largeOut = new Semaphore(Records.MAX_UNASKED);

  /** Streams for which this end has asked for memory, and whether it was granted. */
  private final Map<Integer, Boolean> asks = new ConcurrentHashMap<>();

  /** Aborts that found no room yet. */
  private final Queue<Abort> aborts = new ConcurrentLinkedQueue<>();

  /** Whether the last attempt to send them found no room. */
  private volatile boolean abortsBlocked;

  /**
   * For each slot of the other node, 1 + the generation of the request that it has cancelled last.
   * Allocated for the first CANCEL.
   */
  private volatile int[] cancelled;

  /** The last number of HOLD received, by receiver there. Allocated for the first HOLD. */
  private volatile AtomicIntegerArray held;

  private volatile String failure;
  private volatile boolean dead;

  /** Whether anything was received since the conductor last looked. */
  volatile boolean heard;

  /** Whether one of the ends has sent GOODBYE. */
  volatile boolean leaving;

  // Used by the poller only.
  boolean readable;
  boolean stalled;
  boolean interestLent;

  /** The last number of HOLD sent, by receiver here. Allocated for the first HOLD. */
  private int[] holds;

  private long publishedDelivered;
  private long toldNs;

  /**
   * The previous connection to the same node, or null. Its messages must be delivered before those
   * of this one. Used by the poller only.
   */
  Connection predecessor;

  Connection(
      LocalNode node,
      RemotePeer peer,
      int number,
      long incarnation,
      TypeEntry[] types,
      String[] typeNames,
      String[] misfits,
      int maxThere) {
    this.node = node;
    this.peer = peer;
    this.number = number;
    this.incarnation = incarnation;
    this.types = types;
    this.typeNames = typeNames;
    this.misfits = misfits;
    this.maxThere = maxThere;
    dataReassembly = new Reassembly(this, false);
    controlReassembly = new Reassembly(this, true);
    outbox = new Outbox(this);
  }

  /** Sets the link. Call this once, before the connection is published. */
  void runOn(Link transport) {
    link = transport;
    sender = new Sender(this, transport);
    leaderSpinner = new Spinner(node.leaderSpinning());
  }

  Link link() {
    return link;
  }

  /** Why a type of the other node does not fit, to append to an error text; empty if not known. */
  String misfit(int type) {
    return type >= misfits.length || misfits[type] == null ? "" : ": " + misfits[type];
  }

  boolean dead() {
    return dead;
  }

  // ---- sending

  Sender sender() {
    return sender;
  }

  int newStream() {
    return streams.incrementAndGet();
  }

  /** Asks the conductor for a larger ring of a priority, if it can grow now. Any thread. */
  void wantLarger(int priority) {
    try {
      if (growthAsked.get(priority) == 0
          && link.mayGrow(priority)
          && growthAsked.compareAndSet(priority, 0, 1)) {
        node.conductorShallGrow(this, priority);
      }
    } catch (RingBrokenException e) {
      broken(e);
    } catch (IllegalStateException e) {
      if (!dead) {
        throw e;
      }
    }
  }

  /** Makes a priority's ring larger. Conductor only. */
  void grow(int priority) {
    try {
      if (!dead && link.grow(priority)) {
        wakeWaiters();
      }
    } catch (RingBrokenException e) {
      broken(e);
    } catch (IllegalStateException e) {
      if (!dead) {
        throw e;
      }
    } finally {
      growthAsked.set(priority, 0);
    }
  }

  /** A large message of which some slices were sent, and no more will be. */
  private record Abort(int stream, int total, int type, byte kind) {}

  /**
   * Tells the other end that the rest of a large message is not sent, and then ends the message as
   * {@link #endLarge} does. If there is no room now, the poller does it later.
   */
  void abort(int stream, int total, int type, byte kind) {
    Abort abort = new Abort(stream, total, type, kind);
    if (!put(abort)) {
      aborts.add(abort);
      abortsBlocked = false;
      node.wakePoller();
    }
  }

  private boolean put(Abort abort) {
    ThreadContext context = ThreadContext.current();
    RecordHead head = context.head.of(abort.type(), abort.kind(), 0, 0, 0);
    head.slice(abort.stream(), Records.ABORT, abort.total());
    if (sender.put(context, MemorySegment.NULL, 0, 0, RingPair.DATA, head) == Peer.BACK_PRESSURED) {
      return false;
    }
    largeOut.release();
    return true;
  }

  /** Waits for permission to begin a large message; false if too many are under way. */
  boolean beginLarge(long deadlineNs) throws MessagingException {
    boolean handler = node.beginWait();
    try {
      return largeOut.tryAcquire(Math.max(0, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MessagingException(
          MessagingException.Code.CANCELLED, "the thread was interrupted while it waited");
    } finally {
      node.endWait(handler);
    }
  }

  /** Ends a large message of which everything or nothing was sent; else see {@link #abort}. */
  void endLarge() {
    largeOut.release();
  }

  /** Asks the other end for memory for a large message; false if it grants none in time. */
  boolean awaitGrant(int stream, int total, long deadlineNs) throws MessagingException {
    asks.put(stream, false);
    boolean granted = false;
    try {
      control(Records.BIG, stream, total);
      granted = sender.awaitGrant(stream, deadlineNs);
      return granted;
    } finally {
      asks.remove(stream);
      if (!granted) {
        control(Records.BIG_NO, stream, total);
      }
    }
  }

  boolean granted(int stream) {
    return asks.getOrDefault(stream, false);
  }

  private void onBig(byte kind, int stream, int total) {
    if (kind == Records.BIG_OK) {
      if (asks.replace(stream, false, true)) {
        sender.wake();
      }
      return;
    }
    node.poller()
        .execute(
            () -> {
              try {
                if (dead) {
                  return;
                }
                if (kind == Records.BIG) {
                  dataReassembly.asked(stream, total);
                } else {
                  dataReassembly.askedNoMore(stream);
                }
                node.grantLarge();
              } catch (RingBrokenException e) {
                broken(e);
              }
            });
  }

  /** Sends the aborts that found no room before. Poller only. */
  private boolean flushAborts() {
    boolean done = false;
    boolean asked = false;
    for (Abort abort = aborts.peek(); abort != null; abort = aborts.peek()) {
      if (put(abort)) {
        aborts.remove();
        done = true;
        asked = false;
      } else if (asked) {
        abortsBlocked = true;
        return done;
      } else {
        link.out(RingPair.DATA).want(); // one wake-up per request; then try once more, as in Outbox
        asked = true;
      }
    }
    return done;
  }

  // ---- responses and control records: these methods never wait

  /** Sends a response now, or lets the outbox send it when there is room. */
  void respond(ThreadContext context, TypeEntry type, Object response, int slot, int generation) {
    RecordHead head = context.head.of(type.index, Records.RESPONSE, slot, generation, 0);
    long result = Peer.TOO_LARGE;
    if (outbox.isEmpty()) {
      result = sender.put(context, type, response, RingPair.CONTROL, head);
    }
    if (result != Peer.LOST && result < 0) {
      int size = Sender.size(context, type.codec, response);
      if (size > maxThere) {
        responseFailure(
            slot,
            generation,
            MessagingException.Code.TOO_LARGE,
            "the response has " + size + " bytes, the largest may have " + maxThere);
      } else if (outbox.hasRoom(size)) {
        MemorySegment encoded = Arena.ofAuto().allocate(Math.max(1, size), 8);
        Sender.encode(context, type, response, size, encoded);
        outbox.put(encoded.asSlice(0, size), type.index, Records.RESPONSE, slot, generation);
      } else {
        responseFailure(
            slot,
            generation,
            MessagingException.Code.BACK_PRESSURED,
            "too many responses wait for room");
      }
    }
  }

  /** Sends a failure instead of a response. */
  void responseFailure(int slot, int generation, MessagingException.Code code, String text) {
    byte[] utf8 = String.valueOf(text).getBytes(StandardCharsets.UTF_8);
    int length = Math.min(utf8.length, 1000);
    byte[] payload = new byte[1 + length];
    payload[0] = (byte) CODES.indexOf(code);
    System.arraycopy(utf8, 0, payload, 1, length);
    control(Records.FAILURE, slot, generation, payload);
  }

  private static final byte[] NOTHING = {};
  private static final VarHandle POSITION =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  void control(byte kind, int slot, int generation) {
    control(kind, slot, generation, NOTHING);
  }

  private void control(byte kind, int slot, int generation, byte[] payload) {
    ThreadContext context = ThreadContext.current();
    MemorySegment from =
        payload.length == 0
            ? MemorySegment.NULL
            : Arena.ofAuto().allocate(payload.length).copyFrom(MemorySegment.ofArray(payload));
    RecordHead head = context.head.of(0, kind, slot, generation, 0);
    // A thread's BIG_NO must not overtake its BIG, which may still be in the outbox.
    boolean behind = (kind == Records.BIG || kind == Records.BIG_NO) && !outbox.isEmpty();
    long result = Peer.BACK_PRESSURED;
    if (!behind) {
      result = sender.put(context, from, 0, payload.length, RingPair.CONTROL, head);
    }
    if (result == Peer.BACK_PRESSURED && kind != Records.PING) {
      outbox.put(from, 0, kind, slot, generation);
    }
  }

  /** Agrees to close the connection: sends nothing more, and tells where the data ring ends. */
  void agreeToPart() {
    sender.sealData();
    byte[] end = new byte[Long.BYTES];
    POSITION.set(end, 0, sender.end());
    control(Records.GOODBYE, 0, 0, end);
    sender.seal();
  }

  /** Whether both ends have delivered all messages, and this end knows that. */
  boolean parted() {
    try {
      return sender.unconsumedBytes() == 0
          && sender.allDelivered()
          && link.in(RingPair.DATA).delivered() == endThere;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  // ---- receiving: the poller, and leaders for the control ring

  /** Receives and sends what is possible now; whether there was any. Poller only. */
  boolean poll() {
    boolean done = false;
    try {
      if (readable && !link.readsSession()) {
        done = pull(); // doorbells: they need no lock, as leaders do not read them
      }
      if (ringReceiverLock.compareAndSet(false, true)) {
        try {
          if (readable) {
            done |= pull();
          }
          done |= drainControl();
        } finally {
          ringReceiverLock.set(false);
        }
      }
      done |= drainData();
      done |= outbox.flush();
      done |= !aborts.isEmpty() && flushAborts();
      done |= link.pushInTurn();
    } catch (RingBrokenException e) {
      broken(e);
    }
    return done;
  }

  private boolean pull() {
    boolean came = link.pull();
    readable = came;
    if (came) {
      heard = true;
    }
    return came;
  }

  /** Whether the ring receiver is in use, by a leader or by the poller itself. */
  boolean ringReceiverTaken() {
    return ringReceiverLock.get();
  }

  private boolean drainControl() {
    RingReceiver in = link.in(RingPair.CONTROL);
    int count = 0;
    while (count < TURN) {
      int room = in.peek();
      if (room == 0) {
        if (!link.moveOn(RingPair.CONTROL)) {
          break;
        }
        in = link.in(RingPair.CONTROL);
        continue;
      }
      MemorySegment memory = in.memory();
      long at = in.offset();
      byte kind = Records.kind(memory, at);
      onControl(memory, at, checkedLength(memory, at, kind, room), kind);
      in.advance();
      count++;
    }
    if (count != 0) {
      heard = true;
      if (!link.copies() || in.unpublishedBytes() > link.out(RingPair.CONTROL).capacity() >>> 3) {
        tellControl(in);
      }
    }
    return count != 0;
  }

  /** Publishes how far the control ring was read. */
  private void tellControl(RingReceiver in) {
    in.publish();
    link.published(RingPair.CONTROL);
  }

  /**
   * Reads and checks a record's length, header included. The caller must not read it again: the
   * other process may change shared memory after the check.
   */
  private static int checkedLength(MemorySegment memory, long at, byte kind, int room) {
    int length = Records.length(memory, at);
    if (length < Records.headerOf(kind) || length > room) {
      throw new RingBrokenException(
          "a record of kind " + kind + " says " + length + " bytes, its place has " + room);
    }
    return length;
  }

  private void onControl(MemorySegment memory, long at, int length, byte kind) {
    int header = Records.headerOf(kind);
    switch (kind) {
      case Records.RESPONSE ->
          completeResponse(
              Records.slot(memory, at),
              Records.generation(memory, at),
              Records.type(memory, at),
              memory,
              at + header,
              length - header);
      case Records.FAILURE -> completeFailure(memory, at, length);
      case Records.SLICE -> controlReassembly.slice(memory, at, length);
      case Records.CANCEL -> cancel(Records.slot(memory, at), Records.generation(memory, at));
      case Records.PING -> control(Records.PONG, 0, 0);
      case Records.PONG -> {
        // It has served its purpose by being received.
      }
      case Records.GOODBYE -> {
        goodbye(memory, at + header, length - header);
        node.conductorHears(this, kind);
      }
      case Records.BIG, Records.BIG_OK, Records.BIG_NO ->
          onBig(kind, Records.slot(memory, at), Records.generation(memory, at));
      case Records.HOLD -> held(Records.slot(memory, at), Records.generation(memory, at));
      case Records.STAY -> node.conductorHears(this, kind);
      default -> throw new RingBrokenException("a record of kind " + kind + " on the control ring");
    }
  }

  /** Tells the other end to hold messages for a receiver; false if it was told. Poller only. */
  boolean hold(int what) {
    if (holds == null) {
      holds = new int[types.length << 1];
    }
    if ((holds[what] & 1) != 0) {
      return false;
    }
    tellHold(what);
    return true;
  }

  /** Tells the other end to continue sending to a receiver. Poller only. */
  void release(int what) {
    if (!dead) {
      tellHold(what);
    }
  }

  /**
   * Sends HOLD with the next number. The other end ignores lower numbers than the last, as a record
   * that waits in the outbox may be overtaken by a later one.
   */
  private void tellHold(int what) {
    control(Records.HOLD, what, holds[what] + 1);
    holds[what]++;
  }

  private void held(int what, int number) {
    int count = node.types().entries().size() << 1;
    if (what < 0 || what >= count) {
      throw new RingBrokenException("HOLD of receiver " + what + " of " + count);
    }
    AtomicIntegerArray table = held;
    if (table == null) {
      table = new AtomicIntegerArray(count);
      held = table;
    }
    if (number - table.get(what) > 0) {
      table.set(what, number);
      if ((number & 1) == 0) {
        sender.wake();
      }
    }
  }

  /** Whether the other end has told this one to hold messages for a receiver. Any thread. */
  boolean heldBack(int what) {
    AtomicIntegerArray table = held;
    return table != null && (table.get(what) & 1) != 0;
  }

  private void goodbye(MemorySegment memory, long at, int bytes) {
    if (bytes == Long.BYTES) {
      endThere = memory.get(ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN), at);
    } else if (bytes != 0) {
      throw new RingBrokenException("a GOODBYE of " + bytes + " bytes");
    }
  }

  void completeResponse(
      int slot, int generation, int type, MemorySegment memory, long offset, int bytes) {
    ResponseSlot pending = node.responseSlots().at(slot);
    TypeEntry entry = type < types.length ? types[type] : null;
    if (pending == null || !complete(pending, generation, type, entry, memory, offset, bytes)) {
      node.count().late();
    }
  }

  private boolean complete(
      ResponseSlot pending,
      int generation,
      int type,
      TypeEntry entry,
      MemorySegment memory,
      long offset,
      int bytes) {
    if (entry == null && !misfit(type).isEmpty()) {
      String why = typeNames[type] + ": the type has other components there" + misfit(type);
      return pending.fail(this, generation, MessagingException.Code.TYPE_MISMATCH, why);
    }
    return pending.complete(this, generation, entry, memory, offset, bytes);
  }

  private void completeFailure(MemorySegment memory, long at, int length) {
    int payload = length - Records.RESPONSE_HEADER;
    byte[] bytes = new byte[payload];
    MemorySegment.copy(
        memory, ValueLayout.JAVA_BYTE, at + Records.RESPONSE_HEADER, bytes, 0, payload);
    if (payload < 1 || bytes[0] < 0 || bytes[0] >= CODES.size()) {
      throw new RingBrokenException("a failure without a code");
    }
    String text = new String(bytes, 1, payload - 1, StandardCharsets.UTF_8);
    ResponseSlot pending = node.responseSlots().at(Records.slot(memory, at));
    if (pending == null
        || !pending.fail(this, Records.generation(memory, at), CODES.get(bytes[0]), text)) {
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

  private boolean drainData() {
    if (predecessor != null) {
      if (!predecessor.emptied()) {
        return false;
      }
      predecessor = null;
    }
    RingReceiver in = link.in(RingPair.DATA);
    int count = 0;
    stalled = false;
    while (count < TURN) {
      int room = in.peek();
      if (room == 0) {
        if (!link.moveOn(RingPair.DATA)) {
          break;
        }
        in = link.in(RingPair.DATA);
        continue;
      }
      MemorySegment memory = in.memory();
      long at = in.offset();
      byte kind = Records.kind(memory, at);
      if (onData(memory, at, checkedLength(memory, at, kind, room), kind)) {
        in.advance();
        count++;
      } else if (node.delivery().askForRoom()) {
        stalled = true; // asked before this attempt, so the thread that makes room wakes the poller
        break;
      }
    }
    if (count != 0) {
      heard = true;
    }
    tellDelivered(in);
    return count != 0;
  }

  /**
   * Publishes what was delivered and is free: at once in shared memory, but at intervals on a
   * stream, where each time costs a frame.
   */
  private void tellDelivered(RingReceiver in) {
    long position = deliveries.update(in.position());
    if (position == publishedDelivered && in.unpublishedBytes() == 0) {
      return;
    }
    if (link.copies() && in.unpublishedBytes() <= link.out(RingPair.DATA).capacity() >>> 3) {
      long now = System.nanoTime();
      if (now - toldNs < TELL_NS) {
        return;
      }
      toldNs = now;
    }
    tell(in, position);
  }

  private void tell(RingReceiver in, long position) {
    publishedDelivered = position;
    in.publishDelivered(position);
    in.publish();
    link.published(RingPair.DATA);
  }

  private boolean onData(MemorySegment memory, long at, int length, byte kind) {
    int header = Records.headerOf(kind);
    if (kind == Records.SLICE) {
      return dataReassembly.slice(memory, at, length);
    }
    if (kind != Records.MESSAGE && kind != Records.REQUEST) {
      throw new RingBrokenException("a record of kind " + kind + " on the data ring");
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

  /** Whether nothing more of this connection will be delivered, because it was closed. */
  boolean emptied() {
    return dead;
  }

  /**
   * Announces on all rings that the poller is about to sleep; false if there is something to do
   * first. Poller only.
   */
  boolean arm() {
    if (dead) {
      return true;
    }
    try {
      return armAll();
    } catch (RingBrokenException e) {
      broken(e);
      return false;
    }
  }

  private boolean armAll() {
    boolean led = !ringReceiverLock.compareAndSet(false, true);
    if (!led) {
      try {
        link.arm(RingPair.CONTROL);
        RingReceiver responses = link.in(RingPair.CONTROL);
        if (responses.peek() != 0 || link.goesOn(RingPair.CONTROL)) {
          return false;
        }
        if (responses.unpublishedBytes() != 0) {
          tellControl(responses);
        }
      } finally {
        ringReceiverLock.set(false);
      }
    }
    link.arm(RingPair.DATA);
    if (!stalled
        && (predecessor == null || predecessor.emptied())
        && (link.in(RingPair.DATA).peek() != 0 || link.goesOn(RingPair.DATA))) {
      return false;
    }
    RingReceiver in = link.in(RingPair.DATA);
    long position = deliveries.update(in.position());
    if (link.copies() && (position != publishedDelivered || in.unpublishedBytes() != 0)) {
      tell(in, position);
      boolean unused = link.push();
    }
    // If a leader has the ring receiver, it also reads the session, and checks when it leaves
    // whether this thread sleeps.
    return (led || !readable)
        && link.armOutput()
        && outbox.blocked()
        && (abortsBlocked || aborts.isEmpty());
  }

  void disarm() {
    if (dead) {
      return;
    }
    if (ringReceiverLock.compareAndSet(false, true)) {
      try {
        link.disarm(RingPair.CONTROL);
      } finally {
        ringReceiverLock.set(false);
      }
    }
    link.disarm(RingPair.DATA);
    link.disarmOutput();
  }

  // ---- leading: a thread that waits for a response polls the control ring

  /** Polls for a response for a while; whether it is there. */
  boolean lead(ResponseSlot slot, int generation) {
    if (!startLeading()) {
      for (int i = 0; i < LEADER_LOOKS; i++) {
        if (slot.done(generation)) {
          return true;
        }
        Thread.onSpinWait();
      }
      return false;
    }
    try {
      return look(slot, generation);
    } finally {
      stopLeading();
    }
  }

  /**
   * Starts leading if the thread will wait for the response. Call this before the request is
   * published, so that its response needs no doorbell.
   */
  void leadIfWanted(ThreadContext context) {
    if (context.wantsToLead) {
      context.wantsToLead = false;
      context.leads = startLeading();
    }
  }

  /** Acquires the ring receiver if it is free; if true, the caller must {@link #stopLeading}. */
  boolean startLeading() {
    if (!ringReceiverLock.compareAndSet(false, true)) {
      return false;
    }
    node.leaders().incrementAndGet();
    dataCame = false;
    try {
      link.disarm(RingPair.CONTROL);
      return true;
    } catch (IllegalStateException e) {
      stopLeading();
      if (!dead) {
        throw e;
      }
      return false;
    }
  }

  /** Polls for a response as long as the spinner allows; whether it is there. Leader only. */
  boolean look(ResponseSlot slot, int generation) {
    boolean found = false;
    try {
      boolean unusedPush = link.push();
      if (leaderSpinner.start()) {
        try {
          do {
            dataCame |= link.bring();
            boolean unused = drainControl();
            found = slot.done(generation);
          } while (!found && !dead && leaderSpinner.goOn());
        } finally {
          leaderSpinner.stop(found);
        }
      }
    } catch (RingBrokenException e) {
      broken(e);
    } catch (IllegalStateException e) {
      if (!dead) {
        throw e;
      }
    }
    return found;
  }

  /** Releases the ring receiver. Leader only. */
  void stopLeading() {
    boolean came = dataCame;
    ringReceiverLock.set(false);
    node.leaders().decrementAndGet();
    leave(came);
  }

  /**
   * Announces on the control ring that the poller sleeps, if it fell asleep while this thread had
   * the ring receiver and so could not announce it itself.
   *
   * <p>Invariant: if the poller sleeps after this, the control ring is armed, and its doorbell was
   * not consumed. Announcing takes the ring receiver for a moment. If the poller wakes in that
   * moment, it reads the doorbell but cannot read the ring, and a producer sends one doorbell for
   * one announcement. Then the poller's sleep number has changed, and this thread announces again,
   * until the poller is awake or has slept through the announcement.
   */
  private void leave(boolean came) {
    boolean look = came;
    int before;
    VarHandle.fullFence();
    int sleep = node.poller().sleepNumber();
    do {
      before = sleep;
      if (!Poller.sleeps(sleep) || dead) {
        return;
      }
      if (!ringReceiverLock.compareAndSet(false, true)) {
        // The holder takes over: the poller checks the ring before it sleeps, and another leader
        // calls this when it leaves.
        break;
      }
      try {
        look |= announce();
      } finally {
        ringReceiverLock.set(false);
      }
      VarHandle.fullFence();
      sleep = node.poller().sleepNumber();
    } while (sleep != before);
    if (look) {
      node.wakePoller();
    }
  }

  /**
   * Announces that no thread polls the control ring; whether there is something in it. Holder of
   * the ring receiver only.
   */
  private boolean announce() {
    try {
      link.arm(RingPair.CONTROL);
      return link.in(RingPair.CONTROL).peek() != 0 || link.goesOn(RingPair.CONTROL);
    } catch (RingBrokenException e) {
      return true;
    } catch (IllegalStateException e) {
      if (!dead) {
        throw e;
      }
      return false;
    }
  }

  // ---- the end

  @Override
  public void wakePoller() {
    node.wakePoller();
  }

  @Override
  public void wakeWaiters() {
    sender.wake();
    if (!outbox.isEmpty() || !aborts.isEmpty()) {
      node.wakePoller(); // the outbox and the aborts wait for room, too
    }
  }

  /** Ends the connection: the other end has violated the protocol. */
  void broken(RingBrokenException what) {
    failed("protocol: " + what.getMessage());
  }

  /**
   * Makes all that wait for the data ring ask for a wake-up again, after the last waiting thread
   * has withdrawn the request from the ring.
   */
  void nobodyIsTold() {
    sender.wake();
    if (!aborts.isEmpty()) {
      node.wakePoller();
    }
  }

  @Override
  public void ending(String reason) {
    if (failure == null) {
      failure = reason;
    }
  }

  @Override
  public void failed(String reason) {
    if (failure == null) {
      failure = reason;
    }
    node.pollerShallDrop(this, reason);
  }

  String failureOr(String reason) {
    String why = failure;
    return why == null ? reason : why;
  }

  String failure() {
    String why = failure;
    return why == null ? "the connection to node " + peer.id() + " has ended" : why;
  }

  boolean outboxEmpty() {
    return outbox.isEmpty();
  }

  /** All state on which wake-ups depend, for people. The values are not of one moment. */
  String state() {
    StringBuilder text = new StringBuilder("poller ");
    text.append(node.pollerSleeps() ? "sleeps" : "is awake");
    text.append(ringReceiverLock.get() ? ", ring receiver taken" : ", ring receiver free");
    text.append(", ").append(node.leaders().get()).append(" lead");
    try {
      for (int priority = 0; priority < RingPair.COUNT; priority++) {
        text.append(priority == RingPair.DATA ? "; data" : "; control");
        text.append(" in: ").append(link.in(priority)).append("; out: ").append(link.out(priority));
      }
    } catch (IllegalStateException e) {
      text.append("; its memory was given back");
    }
    text.append(readable ? "; readable" : "").append(stalled ? "; stalled" : "");
    text.append(link.blocked() ? "; blocked" : "").append(dead ? "; dead" : "");
    text.append(outbox.isEmpty() ? "" : outbox.blocked() ? "; outbox waits" : "; outbox has some");
    text.append(aborts.isEmpty() ? "" : "; aborts");
    return text.append(link.state()).toString();
  }

  /** A number that changes when messages or requests were sent or received. For periodic checks. */
  long activity() {
    try {
      return sender.end() * 31 + link.in(RingPair.DATA).position();
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  /** Whether nothing waits or is under way, so that the connection may be closed. */
  boolean idle() {
    return sender.idle()
        && outbox.isEmpty()
        && deliveries.none()
        && largeOut.availablePermits() == Records.MAX_UNASKED;
  }

  /**
   * Ends the connection on this side; unread records are dropped. The poller calls it, or the
   * conductor once the poller has ended.
   *
   * @return the bytes that the other end has not removed from the rings
   */
  long bury(String reason) {
    if (failure == null) {
      failure = reason;
    }
    sender.seal();
    long lost = sender.unconsumedBytes();
    peer.positions().ended(number, sender.rememberDelivered());
    dead = true;
    dataReassembly.forget();
    while (!ringReceiverLock.compareAndSet(false, true)) {
      Thread.onSpinWait(); // a leader sees `dead` and leaves
    }
    controlReassembly.forget();
    ringReceiverLock.set(false);
    boolean own = node.closing();
    node.responseSlots()
        .failAll(
            this,
            own ? MessagingException.Code.CLOSED : MessagingException.Code.LOST,
            own ? "this node was closed" : failure());
    sender.wake();
    return lost;
  }
}

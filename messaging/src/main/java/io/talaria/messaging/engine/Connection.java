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
 * An established connection to a node. Any thread sends; the poller receives, and a thread that
 * waits for a response may take the ring receiver of the control ring meanwhile.
 */
final class Connection implements LinkOwner {
  private static final int TURN = 256;
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

  /** Why those of them that have an own namesake do not fit it; null where that is not known. */
  private final String[] misfits;

  /** The largest message that the other node takes. */
  final int maxThere;

  final DeliveryTracker deliveries = new DeliveryTracker();
  private final Reassembly dataReassembly;
  private final Reassembly controlReassembly;
  private final Outbox outbox;
  private final AtomicBoolean ringReceiverLock = new AtomicBoolean();
  private final AtomicInteger streams = new AtomicInteger();

  private Link link;
  private Sender sender;

  /** Under the ring receiver lock. */
  private Spinner leaderSpinner;

  /** A leader has received from the stream; under the ring receiver lock. */
  private boolean dataCame;

  /**
   * The position behind the last record that will come on the data ring; -1 until the other end
   * says it.
   */
  private volatile long endThere = -1;

  /** 1 while the conductor has been asked for a larger ring, by priority. */
  private final AtomicIntegerArray growthAsked = new AtomicIntegerArray(RingPair.COUNT);

  /** Large messages that may be begun. */
  private final Semaphore largeOut = new Semaphore(Records.MAX_UNASKED);

  /** Streams for which was asked, and whether they were granted. */
  private final Map<Integer, Boolean> asks = new ConcurrentHashMap<>();

  private final Queue<Abort> aborts = new ConcurrentLinkedQueue<>();

  /** The last attempt found no room. */
  private volatile boolean abortsBlocked;

  /** generations of requests from there that were cancelled, by slot; made when the first is. */
  private volatile int[] cancelled;

  /** The numbers of HOLD that have come, by receiver there; made when the first comes. */
  private volatile AtomicIntegerArray held;

  private volatile String failure;
  private volatile boolean dead;

  /** Bytes were seen since the conductor last looked. */
  volatile boolean heard;

  /** The other end said GOODBYE, or we did. */
  volatile boolean leaving;

  // Of the poller.
  boolean readable;
  boolean stalled;
  boolean interestLent;

  /** The numbers of HOLD that were sent, by own receiver; made when the first is. */
  private int[] holds;

  private long publishedDelivered;
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

  /** Once, before anybody else knows it. */
  void runOn(Link transport) {
    link = transport;
    sender = new Sender(this, transport);
    leaderSpinner = new Spinner(node.leaderSpinning());
  }

  Link link() {
    return link;
  }

  /** Behind «other components», for people. */
  String misfit(int type) {
    return type >= misfits.length || misfits[type] == null ? "" : ": " + misfits[type];
  }

  boolean dead() {
    return dead;
  }

  // ---- sending

  /** Where records go. */
  Sender sender() {
    return sender;
  }

  int newStream() {
    return streams.incrementAndGet();
  }

  /** The ring of a priority is too small for what is sent. Any thread. */
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

  /** Conductor. */
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

  private record Abort(int stream, int total, int type, byte kind) {}

  /** Says that the rest of a large message does not come; if there is room, at once. */
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

  /** Asks to send a large message; false if too many are under way until the limit. */
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

  /** All of it was sent, or nothing; for what was begun see {@link #abort}. */
  void endLarge() {
    largeOut.release();
  }

  /** Asks the other end for memory; false at the limit. */
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

  /** Sends what found no room. Poller. */
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
        link.out(RingPair.DATA).want(); // each time anew, and looks once more
        asked = true;
      }
    }
    return done;
  }

  // ---- responses and control; never waits

  /** Sends a response, now or when there is room. */
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

  /** Tells that there will be no response. */
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
    // What one thread asks and takes back must not change places.
    boolean behind = (kind == Records.BIG || kind == Records.BIG_NO) && !outbox.isEmpty();
    long result = Peer.BACK_PRESSURED;
    if (!behind) {
      result = sender.put(context, from, 0, payload.length, RingPair.CONTROL, head);
    }
    if (result == Peer.BACK_PRESSURED && kind != Records.PING) {
      outbox.put(from, 0, kind, slot, generation);
    }
  }

  /** Says that nothing comes behind what was sent so far, and that this side agrees to part. */
  void agreeToPart() {
    sender.sealData();
    byte[] end = new byte[Long.BYTES];
    POSITION.set(end, 0, sender.end());
    control(Records.GOODBYE, 0, 0, end);
    sender.seal();
  }

  /** Whether both sides have delivered all, and know that. */
  boolean parted() {
    try {
      return sender.unconsumedBytes() == 0
          && sender.allDelivered()
          && link.in(RingPair.DATA).delivered() == endThere;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  // ---- receiving; poller, and leaders for the control ring

  /** One turn of the poller; whether anything was done. */
  boolean poll() {
    boolean done = false;
    try {
      if (readable && !link.readsSession()) {
        done = pull(); // doorbells: no leader reads them, or waits for them
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

  /** Whether anything may come for the ring receiver's holder alone. */
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

  /** Tells the other end what is free: at once in memory, seldom on a stream. */
  private void tellControl(RingReceiver in) {
    in.publish();
    link.published(RingPair.CONTROL);
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
        // Heard.
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

  /** Tells the other end to hold back what is for a receiver; false if that was told. Poller. */
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

  /** Tells it to go on. Poller. */
  void release(int what) {
    if (!dead) {
      tellHold(what);
    }
  }

  /** The number says which is the last word: what waits in the outbox may be overtaken. */
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

  /** Whether the other end has too much for a receiver. Any thread. */
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
        stalled = true; // asked before this attempt, so whoever makes room wakes the poller
        break;
      }
    }
    if (count != 0) {
      heard = true;
    }
    tellDelivered(in);
    return count != 0;
  }

  /** Tells the other end what is free and delivered: at once in memory, seldom on a stream. */
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

  /** Whether all that came before the end was taken in. Poller. */
  boolean emptied() {
    return dead;
  }

  /** Announces sleep on all ring receivers; false if something is there. Poller. */
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
      link.push();
    }
    // What can be read is the leader's; who leaves looks whether we sleep.
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

  // ---- leading: who waits for a response looks for it

  /** Looks for a response for a while; whether it is there. */
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

  /** A request is about to be shown: whoever waits for its response needs no doorbell. */
  void leadIfWanted(ThreadContext context) {
    if (context.wantsToLead) {
      context.wantsToLead = false;
      context.leads = startLeading();
    }
  }

  /** Takes the ring receiver, if it is free; who gets it must call {@link #stopLeading}. */
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

  /** Looks while it is worth it. By who leads. */
  boolean look(ResponseSlot slot, int generation) {
    boolean found = false;
    try {
      link.push();
      if (leaderSpinner.start()) {
        try {
          do {
            dataCame |= link.bring();
            drainControl();
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

  void stopLeading() {
    boolean came = dataCame;
    ringReceiverLock.set(false);
    node.leaders().decrementAndGet();
    leave(came);
  }

  /**
   * The poller may have gone to sleep while we had the ring receiver: then it is for us to announce
   * it. For a moment that takes the ring receiver again. If the poller has woken in it, it has read
   * the doorbell of what it was not let look at, and nobody rings twice for one announcement: so
   * once more, until it has slept through the moment, or is awake after it.
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
        break; // by the poller, which looks before it sleeps, or by another who leaves later
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
   * Says that the control ring is not looked at any more; whether something is there. With the ring
   * receiver.
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
      node.wakePoller(); // it waits for room, too
    }
  }

  /** Its bytes or marks cannot be. */
  void broken(RingBrokenException what) {
    failed("protocol: " + what.getMessage());
  }

  /** The other end was told that nobody waits for room of the data ring: who does must ask anew. */
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

  /** Every word on which a wake-up depends; for people, and without any order between them. */
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

  /** Changes when something but control was sent or received. For a look now and then. */
  long activity() {
    try {
      return sender.end() * 31 + link.in(RingPair.DATA).position();
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  /** Nothing waits in it, is under way, or was lately used: it may go. */
  boolean idle() {
    return sender.idle()
        && outbox.isEmpty()
        && deliveries.none()
        && largeOut.availablePermits() == Records.MAX_UNASKED;
  }

  /** It is over: what is left is not read any more. Poller. */
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
      Thread.onSpinWait(); // a leader sees that it is dead
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

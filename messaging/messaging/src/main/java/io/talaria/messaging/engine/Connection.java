// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingReceiver;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.RingPair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * An established connection to a node. Any thread sends. The poller receives; a thread that waits
 * for a response, a <i>leader</i>, may acquire the ring receiver of the control ring and poll it
 * instead.
 */
final class Connection implements LinkOwner {
  private static final int TURN = 256;

  private static final byte[] NOTHING = {};
  private static final VarHandle POSITION =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

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
  private final String[] mismatches;

  /** The largest message that the other node accepts, in bytes. */
  final int maxThere;

  final DeliveryTracker deliveries = new DeliveryTracker();
  private final Reassembly dataReassembly;
  private final Reassembly controlReassembly;
  private final Outbox outbox;
  private final Holds holds = new Holds(this);
  private final LargeTransfers largeTransfers = new LargeTransfers(this);
  private final Responses responses = new Responses(this);
  private final Leading leading;
  private final AtomicInteger streams = new AtomicInteger();

  private Link link;
  private Sender sender;

  /** The position behind the data ring's last record; -1 until the other end's GOODBYE says it. */
  private volatile long endThere = -1;

  /** By priority: 1 while the conductor has a request for a larger ring, else 0. */
  private final AtomicIntegerArray growthAsked = new AtomicIntegerArray(RingPair.COUNT);

  private volatile String failure;
  private volatile boolean dead;

  /** Whether anything was received since the conductor last looked. */
  volatile boolean heard;

  /** Whether one of the ends has sent GOODBYE. */
  volatile boolean leaving;

  // Of the poller.
  boolean readable;
  boolean stalled;
  boolean interestLent;

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
      String[] mismatches,
      int maxThere) {
    this.node = node;
    this.peer = peer;
    this.number = number;
    this.incarnation = incarnation;
    this.types = types;
    this.typeNames = typeNames;
    this.mismatches = mismatches;
    this.maxThere = maxThere;
    dataReassembly = new Reassembly(this, false);
    controlReassembly = new Reassembly(this, true);
    outbox = new Outbox(this);
    leading = new Leading(this);
  }

  /** Sets the link. Call this once, before the connection is published. */
  void runOn(Link transport) {
    link = transport;
    sender = new Sender(this, transport);
  }

  Link link() {
    return link;
  }

  /** Why a type of the other node does not fit, to append to an error text; empty if not known. */
  String mismatch(int type) {
    return type >= mismatches.length || mismatches[type] == null ? "" : ": " + mismatches[type];
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

  /** Asks the conductor for a larger ring of a priority, if it can grow now. Any thread. */
  void wantLarger(int priority) {
    try {
      if (growthAsked.get(priority) == 0
          && link.mayGrow(priority)
          && growthAsked.compareAndSet(priority, 0, 1)) {
        node.conductor().grow(this, priority);
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

  // ---- responses and control; never waits

  void control(byte kind, int slot, int generation) {
    control(kind, slot, generation, NOTHING);
  }

  /** Sends a control record, now or when there is room. */
  void control(byte kind, int slot, int generation, byte[] payload) {
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

  // ---- receiving; poller, and leaders for the control ring

  /** Receives and sends what is possible now; whether there was any. Poller only. */
  boolean poll() {
    boolean done = false;
    try {
      if (readable && !link.readsSession()) {
        done = pull(); // doorbells: no leader reads them, or waits for them
      }
      if (leading.tryLock()) {
        try {
          if (readable) {
            done |= pull();
          }
          done |= drainControl();
        } finally {
          leading.unlock();
        }
      }
      done |= drainData();
      done |= outbox.flush();
      done |= !largeTransfers.noAborts() && largeTransfers.flushAborts();
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
    return leading.locked();
  }

  /** Takes in what the control ring has; whether anything. Holder of its receiver. */
  boolean drainControl() {
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
          responses.received(
              Records.slot(memory, at),
              Records.generation(memory, at),
              Records.type(memory, at),
              memory,
              at + header,
              length - header);
      case Records.FAILURE -> responses.failureReceived(memory, at, length);
      case Records.SLICE -> controlReassembly.slice(memory, at, length);
      case Records.CANCEL ->
          responses.cancelReceived(Records.slot(memory, at), Records.generation(memory, at));
      case Records.PING -> control(Records.PONG, 0, 0);
      case Records.PONG -> {
        // Heard.
      }
      case Records.GOODBYE -> {
        goodbye(memory, at + header, length - header);
        node.conductor().heard(this, kind);
      }
      case Records.BIG, Records.BIG_OK, Records.BIG_NO ->
          largeTransfers.received(kind, Records.slot(memory, at), Records.generation(memory, at));
      case Records.HOLD -> holds.received(Records.slot(memory, at), Records.generation(memory, at));
      case Records.STAY -> node.conductor().heard(this, kind);
      default -> throw new RingBrokenException("a record of kind " + kind + " on the control ring");
    }
  }

  private void goodbye(MemorySegment memory, long at, int bytes) {
    if (bytes == Long.BYTES) {
      endThere = memory.get(ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN), at);
    } else if (bytes != 0) {
      throw new RingBrokenException("a GOODBYE of " + bytes + " bytes");
    }
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
    boolean led = !leading.tryLock();
    if (!led) {
      try {
        link.arm(RingPair.CONTROL);
        RingReceiver in = link.in(RingPair.CONTROL);
        if (in.peek() != 0 || link.goesOn(RingPair.CONTROL)) {
          return false;
        }
        if (in.unpublishedBytes() != 0) {
          tellControl(in);
        }
      } finally {
        leading.unlock();
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
    return (led || !readable) && link.armOutput() && outbox.blocked() && largeTransfers.mayWait();
  }

  void disarm() {
    if (dead) {
      return;
    }
    if (leading.tryLock()) {
      try {
        link.disarm(RingPair.CONTROL);
      } finally {
        leading.unlock();
      }
    }
    link.disarm(RingPair.DATA);
    link.disarmOutput();
  }

  // ---- the end

  @Override
  public void wakePoller() {
    node.poller().wake();
  }

  @Override
  public void wakeWaiters() {
    sender.wake();
    if (!outbox.isEmpty() || !largeTransfers.noAborts()) {
      node.poller().wake(); // it waits for room, too
    }
  }

  /** Ends the connection: the other end has violated the protocol. */
  void broken(RingBrokenException what) {
    failed("protocol: " + what.getMessage());
  }

  /** The peer was told that no thread waits for room in the data ring: those that do ask again. */
  void wantWithdrawn() {
    sender.wake();
    if (!largeTransfers.noAborts()) {
      node.poller().wake();
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
    node.poller().dropSoon(this, reason);
  }

  String failureOr(String reason) {
    String why = failure;
    return why == null ? reason : why;
  }

  String failure() {
    String why = failure;
    return why == null ? "the connection to node " + peer.id() + " has ended" : why;
  }

  Outbox outbox() {
    return outbox;
  }

  Holds holds() {
    return holds;
  }

  LargeTransfers largeTransfers() {
    return largeTransfers;
  }

  Leading leading() {
    return leading;
  }

  Responses responses() {
    return responses;
  }

  Reassembly dataReassembly() {
    return dataReassembly;
  }

  /** All state on which wake-ups depend, for people. The values are not of one moment. */
  String state() {
    StringBuilder text = new StringBuilder("poller ");
    text.append(node.poller().sleeps() ? "sleeps" : "is awake");
    text.append(leading.locked() ? ", ring receiver taken" : ", ring receiver free");
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
    text.append(largeTransfers.noAborts() ? "" : "; aborts");
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
    return sender.idle() && outbox.isEmpty() && deliveries.none() && largeTransfers.idle();
  }

  /** It is over: what is left is not read any more. Poller. */
  long end(String reason) {
    if (failure == null) {
      failure = reason;
    }
    sender.seal();
    long lost = sender.unconsumedBytes();
    peer.positions().ended(number, sender.rememberDelivered());
    dead = true;
    dataReassembly.forget();
    while (!leading.tryLock()) {
      Thread.onSpinWait(); // a leader sees that it is dead
    }
    controlReassembly.forget();
    leading.unlock();
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

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.dispatch.DeliveryTracker;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * An established connection to a node, made of a part for each job. Any thread sends, by {@link
 * #sender} and {@link #control}. The poller receives, by {@link #receiver}; a thread that waits for
 * a response, a <i>leader</i>, may acquire the ring receiver of the control ring and poll it
 * instead. The poller ends the connection.
 */
public final class Connection implements LinkOwner {
  private static final byte[] NOTHING = {};

  public final ConnectionOwner node;
  public final ConnectionPeer peer;
  public final int number;
  final long incarnation;

  /** This node's entries for the other node's types, by the other's index; null if none fits. */
  final TypeEntry[] types;

  /** The names of the other node's types. */
  final String[] typeNames;

  /** Why a type does not fit this node's type of the same name; null where that is not known. */
  private final String[] mismatches;

  /** The largest message that the other node accepts, in bytes. */
  public final int maxThere;

  public final DeliveryTracker deliveries = new DeliveryTracker();
  private final Outbox outbox;
  private final Holds holds = new Holds(this);
  private final LargeTransfers largeTransfers = new LargeTransfers(this);
  private final Responses responses = new Responses(this);
  private final Closing closing = new Closing(this);
  private final Leading leading;
  private final RecordReceiver receiver;
  private final AtomicInteger streams = new AtomicInteger();

  private Link link;
  private Sender sender;

  /** By priority: 1 while the conductor has a request for a larger ring, else 0. */
  private final AtomicIntegerArray growthAsked = new AtomicIntegerArray(RingPair.COUNT);

  /** What {@link #unconsumedBytes} returns when this has ended. */
  private volatile long lostBytes;

  /** Whether {@link #endSending} was called. */
  private volatile boolean sendingEnded;

  private volatile boolean dead;

  public Connection(
      ConnectionOwner node,
      ConnectionPeer peer,
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
    outbox = new Outbox(this);
    leading = new Leading(this);
    receiver = new RecordReceiver(this); // last: it keeps the other parts
  }

  /** Sets the link. Call this once, before the connection is published. */
  public void runOn(Link transport) {
    link = transport;
    sender = new Sender(this, transport);
    receiver.runOn(transport);
  }

  public Link link() {
    return link;
  }

  /** Why a type of the other node does not fit, to append to an error text; empty if not known. */
  String mismatch(int type) {
    return type >= mismatches.length || mismatches[type] == null ? "" : ": " + mismatches[type];
  }

  public boolean dead() {
    return dead;
  }

  /** Whether the other end has ended while messages that had arrived from it waited. */
  public boolean sendingEnded() {
    return sendingEnded;
  }

  /** Whether nothing is sent any more: it is dead, or its other end has ended. */
  boolean ended() {
    return sendingEnded || dead;
  }

  /**
   * Bytes that were sent and that the other end has not removed from its rings, or had not when the
   * connection ended. Any thread.
   */
  public long unconsumedBytes() {
    if (!dead) {
      long bytes = sender.unconsumedBytes();
      if (!dead) { // else the rings may have been unmapped meanwhile
        return bytes;
      }
    }
    return lostBytes;
  }

  // ---- sending

  /** Where records go. */
  public Sender sender() {
    return sender;
  }

  public int newStream() {
    return streams.incrementAndGet();
  }

  /** Asks the conductor for a larger ring of a priority, if it can grow now. Any thread. */
  void wantLarger(int priority) {
    try {
      if (growthAsked.get(priority) == 0
          && link.mayGrow(priority)
          && growthAsked.compareAndSet(priority, 0, 1)) {
        node.grow(this, priority);
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
  public void grow(int priority) {
    try {
      if (!dead && link.grow(priority)) {
        wakeWaiters();
      }
    } catch (RingBrokenException e) {
      broken(e);
    } catch (Throwable e) { // such as no memory: the ring may be sealed, with none after it
      if (!dead || !(e instanceof IllegalStateException)) {
        failed("an error of this node: " + Thrown.text(e));
        throw e;
      }
    } finally {
      growthAsked.set(priority, 0);
    }
  }

  // ---- responses and control; never waits

  public void control(byte kind, int slot, int generation) {
    control(kind, slot, generation, NOTHING);
  }

  /** Sends a control record, now or when there is room. */
  public void control(byte kind, int slot, int generation, byte[] payload) {
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
    closing.because(reason);
  }

  @Override
  public void failed(String reason) {
    closing.because(reason);
    node.poller().dropSoon(this, reason);
  }

  /** It is over: what is left is not read any more. Poller. */
  public long end(String reason) {
    long lost = endOutput(reason);
    lostBytes = sender.unconsumedBytes();
    dead = true;
    try {
      receiver.end();
    } finally { // also without memory: no thread must wait for what cannot come any more
      failRequests();
      sender.wake();
    }
    return lost;
  }

  /**
   * The other end has ended, but messages that have arrived from it wait for their receivers: sends
   * nothing more, and fails the open requests. {@link #end} comes later. Poller, once.
   *
   * @return as {@link #end}
   */
  long endSending(String reason) {
    long lost = endOutput(reason);
    sendingEnded = true;
    receiver.takeRest();
    failRequests();
    sender.wake();
    return lost;
  }

  /** Takes no more records, and returns the bytes whose delivery is unknown. */
  private long endOutput(String reason) {
    closing.because(reason);
    sender.seal();
    long lost = sender.unacknowledgedBytes();
    if (!sendingEnded) {
      peer.positions().ended(number, sender.rememberDelivered());
    }
    return lost;
  }

  private void failRequests() {
    boolean own = node.closing();
    node.responseSlots()
        .failAll(
            this,
            own ? MessagingException.Code.CLOSED : MessagingException.Code.LOST,
            own ? "this node was closed" : closing.failure());
  }

  // ---- its parts, and its state

  /** Where records come from. */
  public RecordReceiver receiver() {
    return receiver;
  }

  public Closing closing() {
    return closing;
  }

  public Outbox outbox() {
    return outbox;
  }

  public Holds holds() {
    return holds;
  }

  public LargeTransfers largeTransfers() {
    return largeTransfers;
  }

  public Leading leading() {
    return leading;
  }

  Responses responses() {
    return responses;
  }

  /** All state on which wake-ups depend, for people. The values are not of one moment. */
  String state() {
    StringBuilder text = new StringBuilder("poller ");
    text.append(node.poller().sleeps() ? "sleeps" : "is awake");
    text.append(leading.locked() ? ", ring receiver taken" : ", ring receiver free");
    try {
      for (int priority = 0; priority < RingPair.COUNT; priority++) {
        text.append(priority == RingPair.DATA ? "; data" : "; control");
        text.append(" in: ").append(link.in(priority)).append("; out: ").append(link.out(priority));
      }
    } catch (IllegalStateException e) {
      text.append("; its memory was given back");
    }
    text.append(receiver.readable ? "; readable" : "").append(receiver.stalled ? "; stalled" : "");
    text.append(link.blocked() ? "; blocked" : "").append(dead ? "; dead" : "");
    text.append(outbox.isEmpty() ? "" : outbox.blocked() ? "; outbox waits" : "; outbox has some");
    text.append(largeTransfers.noAborts() ? "" : "; aborts");
    return text.append(link.state()).toString();
  }

  /** A number that changes when messages or requests were sent or received. For periodic checks. */
  public long activity() {
    try {
      return sender.end() * 31 + link.in(RingPair.DATA).position();
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  /** Whether nothing waits or is under way, so that the connection may be closed. */
  public boolean idle() {
    return sender.idle() && outbox.isEmpty() && deliveries.none() && largeTransfers.idle();
  }
}

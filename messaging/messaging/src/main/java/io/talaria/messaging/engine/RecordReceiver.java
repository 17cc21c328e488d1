// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.dispatch.DeliveryTracker;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingReceiver;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.RingPair;
import java.lang.foreign.MemorySegment;

/**
 * The receiving side of a connection: reads the records of both rings, and gives each to the part
 * that it is for. For the poller; {@link #drainControl} is for whoever has the ring receiver, which
 * {@link Leading} gives to one thread at a time.
 */
public final class RecordReceiver {
  private static final int TURN = 256;

  /** The most turns for what has come before the other end has ended. */
  static final int MAX_TURNS = 1 << 16;

  /**
   * The least time between two messages of a stream about what was delivered and is free, unless
   * more than an eighth of the ring is free and untold.
   */
  private static final long TELL_NS = 1_000_000;

  private final Connection connection;
  private final ConnectionOwner node;
  private final Delivery delivery;
  private final DeliveryTracker deliveries;
  private final Reassembly dataReassembly;
  private final Reassembly controlReassembly;
  private final Leading leading;
  private final Outbox outbox;
  private final Holds holds;
  private final LargeTransfers largeTransfers;
  private final Responses responses;
  private final Closing closing;
  private Link link;

  /** Whether anything was received since the conductor last looked. */
  public volatile boolean heard;

  // Of the poller.
  boolean readable;
  boolean stalled;
  boolean interestLent;

  /** Whether another thread had the ring receiver when the poller last looked. */
  boolean led;

  private int taken;
  private long publishedDelivered;
  private long toldNs;

  /**
   * The previous connection to the same node, or null. Its messages must be delivered before those
   * of this one. Used by the poller only.
   */
  public Connection predecessor;

  /** For a connection that has its other parts. */
  RecordReceiver(Connection connection) {
    this.connection = connection;
    node = connection.node;
    delivery = node.delivery();
    deliveries = connection.deliveries;
    dataReassembly = new Reassembly(connection, false);
    controlReassembly = new Reassembly(connection, true);
    leading = connection.leading();
    outbox = connection.outbox();
    holds = connection.holds();
    largeTransfers = connection.largeTransfers();
    responses = connection.responses();
    closing = connection.closing();
  }

  /** See {@link Connection#runOn}. */
  void runOn(Link transport) {
    link = transport;
  }

  Reassembly dataReassembly() {
    return dataReassembly;
  }

  /** Receives and sends what is possible now; whether there was any. Poller only. */
  boolean poll() {
    boolean done = false;
    try {
      done = pollControl();
      done |= drainData();
      if (readable && !link.readsSession()) {
        done |= pull(); // doorbells: no leader reads them; what they announce has been received
      }
      done |= outbox.flush();
      done |= !largeTransfers.noAborts() && largeTransfers.flushAborts();
      done |= link.pushInTurn();
    } catch (RingBrokenException e) {
      connection.broken(e);
    }
    return done;
  }

  private boolean pollControl() {
    boolean pulls = readable && link.readsSession();
    if (!pulls && !link.mayHave(RingPair.CONTROL)) {
      led = leading.locked();
      return false;
    }
    led = !leading.tryLock();
    if (led) {
      return false;
    }
    try {
      boolean done = pulls && pull();
      done |= drainControl();
      return done;
    } finally {
      leading.unlockSoon();
    }
  }

  /** How many records of the data ring the last turn has taken. Poller. */
  int taken() {
    return taken;
  }

  private boolean pull() {
    boolean came = link.pull();
    readable = came;
    if (came) {
      heard = true;
    }
    return came;
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
      long head = Records.head(memory, at);
      onControl(memory, at, head, checkedLength(head, room));
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

  /** Checks a record's length, header included. */
  private static int checkedLength(long head, int room) {
    int length = Records.lengthIn(head);
    byte kind = Records.kindIn(head);
    if (length < Records.headerOf(kind) || length > room) {
      throw new RingBrokenException(
          "a record of kind " + kind + " says " + length + " bytes, its place has " + room);
    }
    return length;
  }

  private void onControl(MemorySegment memory, long at, long head, int length) {
    byte kind = Records.kindIn(head);
    int header = Records.headerOf(kind);
    switch (kind) {
      case Records.RESPONSE ->
          responses.received(
              Records.slot(memory, at),
              Records.generation(memory, at),
              Records.typeIn(head),
              memory,
              at + header,
              length - header);
      case Records.FAILURE -> responses.failureReceived(memory, at, length);
      case Records.SLICE -> controlReassembly.slice(memory, at, length);
      case Records.CANCEL ->
          responses.cancelReceived(Records.slot(memory, at), Records.generation(memory, at));
      case Records.PING -> connection.control(Records.PONG, 0, 0);
      case Records.PONG -> {
        // Heard.
      }
      case Records.GOODBYE -> {
        closing.goodbye(memory, at + header, length - header);
        node.heard(connection, kind);
      }
      case Records.BIG, Records.BIG_OK, Records.BIG_NO ->
          largeTransfers.received(kind, Records.slot(memory, at), Records.generation(memory, at));
      case Records.HOLD -> holds.received(Records.slot(memory, at), Records.generation(memory, at));
      case Records.STAY -> node.heard(connection, kind);
      default -> throw new RingBrokenException("a record of kind " + kind + " on the control ring");
    }
  }

  /**
   * Whether messages that have arrived cannot be delivered yet: no receiver has room, or those of
   * the previous connection come first. Poller.
   */
  boolean waits() {
    return stalled || (predecessor != null && !predecessor.dead());
  }

  private boolean drainData() {
    if (predecessor != null) {
      if (!predecessor.dead()) {
        taken = 0;
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
      long head = Records.head(memory, at);
      if (onData(memory, at, head, checkedLength(head, room))) {
        in.advance();
        count++;
      } else if (delivery.askForRoom()) {
        stalled = true; // asked before this attempt, so the thread that makes room wakes the poller
        break;
      }
    }
    taken = count;
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

  /** Tells what {@link #tellDelivered} has left untold. Poller, unless the connection is dead. */
  public void tellRest() {
    RingReceiver in = link.in(RingPair.DATA);
    long position = deliveries.update(in.position());
    if (link.copies() && (position != publishedDelivered || in.unpublishedBytes() != 0)) {
      tell(in, position);
      link.push();
    }
  }

  private void tell(RingReceiver in, long position) {
    publishedDelivered = position;
    in.publishDelivered(position);
    in.publish();
    link.published(RingPair.DATA);
  }

  private boolean onData(MemorySegment memory, long at, long head, int length) {
    byte kind = Records.kindIn(head);
    int header = Records.headerOf(kind);
    if (kind == Records.SLICE) {
      return dataReassembly.slice(memory, at, length);
    }
    if (kind != Records.MESSAGE && kind != Records.REQUEST) {
      throw new RingBrokenException("a record of kind " + kind + " on the data ring");
    }
    boolean asks = kind == Records.REQUEST;
    return delivery.deliver(
        connection,
        Records.typeIn(head),
        kind,
        asks ? Records.slot(memory, at) : 0,
        asks ? Records.generation(memory, at) : 0,
        asks ? Records.limitUs(memory, at) : 0,
        memory,
        at + header,
        length - header,
        0);
  }

  /**
   * Announces on all rings that the poller is about to sleep; false if there is something to do
   * first. Poller only.
   */
  boolean arm() {
    if (connection.dead()) {
      return true;
    }
    try {
      return armAll();
    } catch (RingBrokenException e) {
      connection.broken(e);
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
    if (!waits() && (link.in(RingPair.DATA).peek() != 0 || link.goesOn(RingPair.DATA))) {
      return false;
    }
    tellRest();
    // What can be read is the leader's; who leaves looks whether we sleep.
    return (led || !readable) && link.armOutput() && outbox.blocked() && largeTransfers.mayWait();
  }

  void disarm() {
    if (connection.dead()) {
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

  /**
   * It is over: takes in the last responses, and forgets incomplete messages. Poller, once the
   * connection is dead.
   */
  void end() {
    dataReassembly.forget();
    lock();
    drainRest();
    controlReassembly.forget();
    leading.unlock();
  }

  /** Takes in the last responses. Poller, once {@link Connection#sendingEnded}. */
  void takeRest() {
    lock();
    drainRest();
    leading.unlock();
  }

  private void lock() {
    while (!leading.tryLock()) {
      Thread.onSpinWait(); // a leader sees that the connection has ended
    }
  }

  /**
   * Takes in what has come on the control ring before the other end has ended. The poller has not
   * got it if a leader had the ring receiver.
   */
  private void drainRest() {
    try {
      for (int i = 0; link.over() && i < MAX_TURNS && drainControl(); i++) {
        // Until it is empty. A process that violates the protocol might still write.
      }
    } catch (RingBrokenException | IllegalStateException e) {
      // The connection has ended anyway.
    } catch (Throwable e) { // such as no memory: who waits for a response must still be told
      node.events().internal("poller", e);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.RingPair;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Large messages on their way out of a connection: how many are under way, which of them the peer
 * has granted memory to, and those that were given up. Any thread, except where it is said.
 */
public final class LargeTransfers {
  private record Abort(int stream, int total, int type, byte kind) {}

  private final Connection connection;
  private final Semaphore permits = new Semaphore(Records.MAX_UNASKED);

  /** The streams for which memory was asked, and whether it was granted. */
  private final Map<Integer, Boolean> asks = new ConcurrentHashMap<>();

  /** Aborts that found no room. */
  private final Queue<Abort> aborts = new ConcurrentLinkedQueue<>();

  /** Whether the last attempt found no room. */
  private volatile boolean abortsBlocked;

  LargeTransfers(Connection connection) {
    this.connection = connection;
  }

  /** Whether none is under way. */
  boolean idle() {
    return permits.availablePermits() == Records.MAX_UNASKED;
  }

  /** Waits until one more may be begun; false if too many are under way until the deadline. */
  public boolean begin(long deadlineNs) throws MessagingException {
    Handlers own = Handlers.beginWait();
    try {
      return permits.tryAcquire(Math.max(0, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MessagingException(
          MessagingException.Code.CANCELLED, "the thread was interrupted while it waited");
    } finally {
      Handlers.endWait(own);
    }
  }

  /** All of it was sent, or nothing; one that was sent in part ends by {@link #abort}. */
  public void end() {
    permits.release();
  }

  /** Tells the peer that the rest of a large message does not come; now or when there is room. */
  public void abort(int stream, int total, int type, byte kind) {
    Abort abort = new Abort(stream, total, type, kind);
    if (!put(abort)) {
      aborts.add(abort);
      abortsBlocked = false;
      connection.wakePoller();
    }
  }

  private boolean put(Abort abort) {
    ThreadContext context = ThreadContext.current();
    RecordHead head = context.head.of(abort.type(), abort.kind(), 0, 0, 0);
    head.slice(abort.stream(), Records.ABORT, abort.total());
    Sender sender = connection.sender();
    if (sender.put(context, MemorySegment.NULL, 0, 0, RingPair.DATA, head) == Peer.BACK_PRESSURED) {
      return false;
    }
    permits.release();
    return true;
  }

  /** Whether no abort waits for room. */
  boolean noAborts() {
    return aborts.isEmpty();
  }

  /** Whether the poller may sleep: no abort waits, or the peer will tell when there is room. */
  boolean mayWait() {
    return abortsBlocked || aborts.isEmpty();
  }

  /** Sends aborts that found no room; whether any was sent. Poller. */
  boolean flushAborts() {
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
        connection.link().out(RingPair.DATA).want(); // before each wait; then one more attempt
        asked = true;
      }
    }
    return done;
  }

  /** Asks the peer for memory, and waits; false at the deadline. */
  public boolean awaitGrant(int stream, int total, long deadlineNs) throws MessagingException {
    asks.put(stream, false);
    boolean granted = false;
    try {
      connection.control(Records.BIG, stream, total);
      granted = connection.sender().awaitGrant(stream, deadlineNs);
      return granted;
    } finally {
      asks.remove(stream);
      if (!granted) {
        connection.control(Records.BIG_NO, stream, total);
      }
    }
  }

  /** Whether the peer has memory for a stream. */
  boolean granted(int stream) {
    return asks.getOrDefault(stream, false);
  }

  /** BIG, BIG_OK or BIG_NO has come. Holder of the control ring's receiver. */
  void received(byte kind, int stream, int total) {
    if (kind != Records.BIG_OK) {
      connection.node.poller().execute(() -> asked(kind, stream, total));
    } else if (asks.replace(stream, false, true)) {
      connection.sender().wake();
    }
  }

  private void asked(byte kind, int stream, int total) {
    try {
      if (connection.dead()) {
        return;
      }
      if (kind == Records.BIG) {
        connection.receiver().dataReassembly().asked(stream, total);
      } else {
        connection.receiver().dataReassembly().askedNoMore(stream);
      }
      connection.node.largeMemory().grant();
    } catch (RingBrokenException e) {
      connection.broken(e);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.Status;
import io.talaria.verbs.VerbsException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.BitSet;

/**
 * Posts what its connections are to send, takes its completions, and gives slices back. It alone
 * posts to their queue pairs and closes them.
 */
final class SendThread extends NetThread {
  /** Requests of one post at most. */
  private static final int CHAIN = 64;

  /** One request in so many is signalled at least, and the last of each post. */
  private static final int SIGNAL_MASK = 15;

  // What a request is, in its identifier: serial of the connection 30 bits, kind 2, position 32.
  private static final int SERIAL_SHIFT = 34;
  private static final int KIND_SHIFT = 32;
  private static final int OF_RING = 0;
  private static final int OF_CREDIT = 1;
  private static final int OF_LARGE = 2;

  final SlicePool pool;

  /** By the low bits of their serial numbers. Written under the node's lock. */
  final Connection[] slots;

  /** Which slots are taken, also by handshakes. Guarded by the node. */
  final BitSet taken = new BitSet();

  private final SendRequests requests;
  private final int inlineBytes;

  /** Those that are being closed. */
  private final ArrayList<Connection> closing = new ArrayList<>();

  /** Those whose large message waits for memory. */
  private final ArrayList<Connection> waiting = new ArrayList<>();

  SendThread(VerbsNode node, int index, int connections) {
    super(
        node, "talaria-verbs-send-" + index, (connections + VerbsNode.SPARE) * node.queuePairDepth);
    try {
      requests = SendRequests.allocate(node.domain, CHAIN, 1);
      pool = new SlicePool(this, node.domain, node.options.sendSlices(), node.options.sliceBytes());
    } catch (RuntimeException | Error e) {
      super.release();
      throw e;
    }
    slots = new Connection[Integer.highestOneBit(2 * connections) * 2];
    inlineBytes = node.options.inlineBytes();
  }

  private static long id(Connection connection, int kind, int position) {
    return ((long) connection.serial << SERIAL_SHIFT)
        | ((long) kind << KIND_SHIFT)
        | (position & 0xffffffffL);
  }

  private Connection find(long id) {
    int serial = (int) (id >>> SERIAL_SHIFT);
    Connection connection = slots[serial & (slots.length - 1)];
    return connection != null && connection.serial == serial ? connection : null;
  }

  // ---- completions

  @Override
  void completed(int entries) {
    for (int i = 0; i < entries; i++) {
      long id = completions.id(i);
      Connection connection = find(id);
      if (connection == null) {
        continue;
      }
      int status = completions.status(i);
      if (status != Status.SUCCESS) {
        failed(connection, status);
      }
      int kind = (int) (id >>> KIND_SHIFT) & 3;
      if (kind == OF_RING) {
        complete(connection, (int) id, status);
      } else if (kind == OF_CREDIT) {
        connection.creditsOut--;
        connection.scheduleSending();
      } else if (status == Status.SUCCESS) {
        connection.large.arrived = true;
        connection.scheduleReceiving();
      }
    }
  }

  /** Tells all connections that slices have come back, if a borrow was refused before. */
  private boolean slicesBack() {
    if (!pool.wanted || pool.isEmpty()) {
      return false;
    }
    pool.wanted = false;
    for (Connection each : slots) {
      if (each != null) {
        each.roomMade();
      }
    }
    return true;
  }

  private void failed(Connection connection, int status) {
    count.add(Count.FAILED_REQUESTS, 1);
    if (!connection.hasFailed()) {
      connection.failed(status, "a request failed: " + Status.text(status));
    }
  }

  /** All before the position are done, it has this status. */
  private void complete(Connection connection, int position, int status) {
    SendRing ring = connection.ring;
    int at = ring.completed();
    if (position - at < 0) {
      return; // swept
    }
    while (at != position) {
      completeOne(connection, at++, OperationListener.DONE);
    }
    completeOne(connection, position, status);
    connection.roomMade();
  }

  private void completeOne(Connection connection, int position, int status) {
    SendRing ring = connection.ring;
    int slot = ring.slot(position);
    byte kind = ring.kind[slot];
    if (kind == SendRing.MESSAGE || kind == SendRing.LARGE) {
      Slice slice = ring.subject[slot];
      ring.complete(position);
      slice.free();
      return;
    }
    RegisteredMemory memory = ring.memory[slot];
    OperationListener listener = ring.listener[slot];
    long token = ring.token[slot];
    ring.complete(position);
    memory.leave();
    connection.tell(listener, token, status);
  }

  // ---- posting

  @Override
  void serve(Connection connection) {
    int stage = connection.stage();
    if (stage >= Connection.DRAINING && !connection.closing) {
      connection.closing = true;
      closing.add(connection);
    }
    if (stage <= Connection.DRAINING && !connection.hasFailed() && !isBroken()) {
      post(connection);
    }
  }

  private void post(Connection connection) {
    SendRing ring = connection.ring;
    int first = connection.posted;
    int chained = 0;
    while (chained < CHAIN && ring.isPublished(first + chained)) {
      fill(connection, first + chained, chained);
      chained++;
    }
    if (chained > 0) {
      int last = first + chained - 1;
      if ((last & SIGNAL_MASK) != SIGNAL_MASK) {
        requests.signaled();
      }
      connection.posted = last + 1;
      if (!posted(connection, chained)) {
        return;
      }
      if (chained == CHAIN) {
        connection.scheduleSending();
      }
    }
    credit(connection);
    read(connection);
  }

  private boolean posted(Connection connection, int chained) {
    // Before the peer can have them, so that nothing arrives that is not counted.
    count.add(Count.POSTS, 1);
    count.add(Count.POSTED, chained);
    int status = connection.queuePair.post(requests, 0, chained);
    if (status == 0) {
      return true;
    }
    count.add(Count.FAILED_REQUESTS, 1);
    connection.failed(
        Status.GENERAL_ERROR,
        new VerbsException(status, "posting " + chained + " requests").getMessage());
    // All that the ring holds is swept, once the queue pair is closed.
    return false;
  }

  private void fill(Connection connection, int position, int index) {
    SendRing ring = connection.ring;
    int slot = ring.slot(position);
    byte kind = ring.kind[slot];
    int length = ring.length[slot];
    if (kind == SendRing.MESSAGE || kind == SendRing.LARGE) {
      count.add(Count.MESSAGES_OUT, 1);
      Slice slice = ring.subject[slot];
      boolean large = kind == SendRing.LARGE;
      requests.sendImmediate(
          index, immediate(connection, large ? Immediate.LARGE : Immediate.DATA));
      if (length > 0) {
        requests.local(slice.pool.region, slice.offset, length);
        if (length <= inlineBytes) {
          requests.inline();
        }
      }
      if (large) {
        connection.large.sent(ring.memory[slot], ring.listener[slot], ring.token[slot]);
      }
    } else {
      switch (kind) {
        case SendRing.READ -> requests.read(index);
        case SendRing.WRITE -> requests.write(index);
        case SendRing.FETCH_ADD -> requests.fetchAdd(index, ring.first[slot]);
        default -> requests.compareSwap(index, ring.first[slot], ring.second[slot]);
      }
      requests.local(ring.memory[slot].region, ring.offset[slot], length);
      requests.remote(ring.remoteAddress[slot], ring.remoteKey[slot]);
    }
    requests.id(id(connection, OF_RING, position));
    if ((position & SIGNAL_MASK) == SIGNAL_MASK) {
      requests.signaled();
    }
  }

  /** What the peer is to be told, taken from what is to be told. */
  private static int immediate(Connection connection, int kind) {
    int credits = Math.min(connection.credits(), Immediate.MAX_CREDITS);
    int taken = Math.min(connection.large.unreported(), Immediate.MAX_TAKEN);
    connection.creditsTold(credits);
    connection.large.reported += taken;
    return Immediate.of(kind, taken, credits);
  }

  /** Gives credit, or greets, by a message of its own, if no other has done so. */
  private void credit(Connection connection) {
    boolean greets = connection.takeGreeting() && connection.posted == 0;
    if ((connection.credits() >= node.creditThreshold
            || connection.large.unreported() > 0
            || greets)
        && connection.creditsOut < VerbsNode.CREDIT_SLOTS) {
      int word = immediate(connection, Immediate.CREDIT);
      requests.sendImmediate(0, word).id(id(connection, OF_CREDIT, 0)).signaled();
      if (posted(connection, 1)) {
        connection.creditsOut++;
        count.add(Count.CREDIT_MESSAGES, 1);
      }
    }
  }

  /** Begins to read a large message of the peer. */
  private void read(Connection connection) {
    LargeMessages large = connection.large;
    if (!large.wantsToRead() || connection.hasFailed()) {
      return;
    }
    MemoryRegion buffer;
    try {
      buffer = node.largeBuffers.take(large.nextLength());
    } catch (VerbsException e) {
      connection.failed(Status.GENERAL_ERROR, "no memory for a large message: " + e.getMessage());
      return;
    }
    if (buffer == null) {
      if (!connection.waitsForMemory) {
        connection.waitsForMemory = true;
        waiting.add(connection);
      }
      return;
    }
    large.buffer = buffer;
    int length = (int) large.nextLength();
    requests.read(0).id(id(connection, OF_LARGE, 0)).local(buffer, 0, length).signaled();
    requests.remote(large.nextAddress(), large.nextKey());
    large.started++;
    boolean ignored = posted(connection, 1);
  }

  // ---- closing

  @Override
  boolean more() {
    boolean worked = slicesBack();
    for (int i = waiting.size() - 1; i >= 0; i--) {
      Connection connection = waiting.remove(i);
      connection.waitsForMemory = false;
      if (connection.stage() < Connection.DELIVERING) {
        read(connection);
        worked |= !connection.waitsForMemory;
      }
    }
    if (closing.isEmpty()) {
      return worked;
    }
    long nowNs = System.nanoTime();
    for (int i = closing.size() - 1; i >= 0; i--) {
      Connection connection = closing.get(i);
      int before = connection.stage();
      if (closed(connection, nowNs)) {
        closing.remove(i);
      }
      worked |= connection.stage() != before;
    }
    return worked;
  }

  /** Goes a step on; whether it was the last one here. */
  private boolean closed(Connection connection, long nowNs) {
    switch (connection.stage()) {
      case Connection.DRAINING -> {
        if (connection.isDrained(nowNs) || isBroken()) {
          connection.endLife();
          connection.stage(Connection.DELIVERING);
          connection.scheduleReceiving();
        }
      }
      case Connection.DESTROYING -> {
        try {
          connection.closeQueuePair();
        } catch (VerbsException e) {
          LOG.log(Level.ERROR, "the queue pair of " + connection + " stays open", e);
        }
        if (!isBroken()) {
          drain();
        }
        connection.stage(Connection.SWEEPING);
      }
      case Connection.SWEEPING -> {
        if (swept(connection)) {
          connection.stage(Connection.FINISHING);
          connection.scheduleReceiving();
          return true;
        }
      }
      default -> {}
    }
    return false;
  }

  /** Gives back what the ring holds; false: a thread is still writing a record. */
  private boolean swept(Connection connection) {
    SendRing ring = connection.ring;
    int end = ring.end();
    while (ring.completed() != end) {
      int position = ring.completed();
      if (!ring.isPublished(position)) {
        return false;
      }
      int slot = ring.slot(position);
      if (ring.kind[slot] == SendRing.LARGE && position - connection.posted >= 0) {
        // It was never posted: the receive thread ends it with the others.
        connection.large.sent(ring.memory[slot], ring.listener[slot], ring.token[slot]);
      }
      completeOne(connection, position, OperationListener.CLOSED);
    }
    return true;
  }

  @Override
  boolean hasMore() {
    return pool.wanted && !pool.isEmpty();
  }

  @Override
  boolean isImpatient() {
    return !closing.isEmpty() || !waiting.isEmpty();
  }

  @Override
  void release() {
    pool.region.close();
    super.release();
  }
}

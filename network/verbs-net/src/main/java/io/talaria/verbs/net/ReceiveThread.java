// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.SharedReceiveQueue;
import io.talaria.verbs.Status;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;

/**
 * Takes what its connections receive, posts as many receive requests again, and only then calls
 * handlers.
 *
 * <p>Each connection is promised a window of receive requests, and a few for messages that only
 * give credit. As long as handlers keep few messages, all that were promised are posted. If they
 * keep more, requests are owed: the credit for each is given when it is posted after all.
 */
final class ReceiveThread extends NetThread {
  final ConnectionTable table = new ConnectionTable();
  final SharedReceiveQueue requests;
  final int entries;

  /** How many connections it may have, and has. Guarded by the node. */
  int assigned;

  private final ReceiveCircle circle;
  private final Message[] messages;
  private final Message[] batch = new Message[64];

  /** Whose requests are owed, the oldest first. */
  private final ArrayDeque<Connection> owed;

  /** How many are owed for which no peer gets credit. */
  private int ownOwed;

  /** Messages that were kept and are released now. */
  private final MpscAtomicArrayQueue<Message> released;

  ReceiveThread(VerbsNode node, int index, int connections) {
    // Twice: what a shared queue has reserved stays so for a moment after its last user has gone.
    super(node, "talaria-verbs-receive-" + index, 2 * connections * node.promised);
    entries = connections * node.promised;
    SharedReceiveQueue opened = null;
    try {
      opened = node.domain.sharedReceiveQueue(entries, 1);
      circle = new ReceiveCircle(node.domain, opened, entries, node.options.sliceBytes());
    } catch (RuntimeException | Error e) {
      if (opened != null) {
        opened.close();
      }
      super.release();
      throw e;
    }
    requests = opened;
    messages = new Message[circle.slices()];
    for (int i = 0; i < messages.length; i++) {
      long offset = (long) i * node.options.sliceBytes();
      MemorySegment memory = circle.region.memory().asSlice(offset, node.options.sliceBytes());
      messages[i] = new Message(this, i, memory);
    }
    owed = new ArrayDeque<>(circle.slices() + 1);
    released = new MpscAtomicArrayQueue<>(Math.max(2, circle.slices()));
    int posted = circle.post(entries);
    if (posted != entries) {
      release();
      throw new IllegalStateException(
          "of " + entries + " receive requests the device took " + posted);
    }
  }

  @Override
  void completed(int taken) {
    int used = 0;
    int own = 0;
    for (int i = 0; i < taken; i++) {
      Message message = messages[(int) completions.id(i)];
      Connection connection = table.find(completions.queuePairNumber(i));
      message.connection = connection;
      message.status = completions.status(i);
      message.immediate = completions.hasImmediate(i) ? completions.immediate(i) : Immediate.NONE;
      message.filled(message.status == Status.SUCCESS ? completions.bytes(i) : 0);
      batch[i] = message;
      if (isData(message)) {
        owed.addLast(connection);
        connection.owedEntries++;
        used++;
      } else {
        // No code reads its slice, so it can be posted again at once.
        if (message.over()) {
          circle.free(message.index);
        }
        own++;
      }
    }
    boolean ignored = refill(own);
    for (int i = 0; i < taken; i++) {
      Connection connection = batch[i].connection;
      if (connection != null) {
        credited(connection, batch[i]);
      }
    }
    if (used > 0) {
      busy();
      for (int i = 0; i < taken; i++) {
        Message message = batch[i];
        if (isData(message)) {
          deliver(message);
        }
      }
      free();
      if (canRepay()) {
        ignored = refill(0);
      }
    }
  }

  private static boolean isData(Message message) {
    return message.connection != null
        && message.status == Status.SUCCESS
        && Immediate.isValid(message.immediate)
        && Immediate.kind(message.immediate) != Immediate.CREDIT;
  }

  /** Posts what is owed, and so many more whose slices were not needed. */
  private boolean refill(int own) {
    ownOwed += own;
    int wanted = ownOwed + owed.size();
    if (wanted == 0) {
      return false;
    }
    int posted = circle.post(wanted);
    count.add(Count.REFILLS, 1);
    if (posted < wanted) {
      count.add(Count.LATE_REFILLS, 1);
    }
    int forOwn = Math.min(posted, ownOwed);
    ownOwed -= forOwn;
    paid(posted - forOwn);
    return posted > 0;
  }

  private void paid(int posted) {
    for (int i = 0; i < posted; i++) {
      Connection connection = owed.pollFirst();
      connection.owedEntries--;
      connection.reposted();
      if (connection.finished && connection.owedEntries == 0) {
        node.leaves(connection);
      }
    }
  }

  /** Whether requests are owed for which there are slices. */
  private boolean canRepay() {
    return (ownOwed > 0 || !owed.isEmpty()) && circle.available() > 0;
  }

  private void credited(Connection connection, Message message) {
    if (message.status != Status.SUCCESS) {
      if (message.status != Status.FLUSHED) {
        connection.close(
            new CloseReason(
                CloseReason.Kind.FAILED, "receiving failed: " + Status.text(message.status)),
            false);
      }
      return;
    }
    if (!Immediate.isValid(message.immediate)) {
      connection.close(
          new CloseReason(
              CloseReason.Kind.PROTOCOL,
              "the peer has sent a message without a word, or a wrong one"),
          false);
      return;
    }
    connection.heard();
    int credits = Immediate.credits(message.immediate);
    if (credits > 0) {
      connection.ring.grant(credits);
    }
    int taken = Immediate.taken(message.immediate);
    for (int i = 0; i < taken; i++) {
      if (!connection.large.taken(connection, OperationListener.DONE)) {
        connection.close(
            new CloseReason(
                CloseReason.Kind.PROTOCOL, "the peer has taken a large message that was not sent"),
            false);
        break;
      }
    }
    if (credits > 0 || taken > 0) {
      connection.roomMade();
    }
  }

  private void deliver(Message message) {
    Connection connection = message.connection;
    if (connection.delivers()) {
      if (Immediate.kind(message.immediate) == Immediate.LARGE) {
        if (connection.large.offered(message, node.options.largeBytes())) {
          connection.scheduleSending();
        } else {
          connection.close(
              new CloseReason(
                  CloseReason.Kind.PROTOCOL, "the peer offers a large message that it may not"),
              false);
        }
      } else {
        count.add(Count.MESSAGES_IN, 1);
        hand(connection, message);
      }
    }
    if (message.over()) {
      circle.free(message.index);
    }
  }

  private void hand(Connection connection, Message message) {
    try {
      announce(connection);
      connection.handler.message(connection, message);
    } catch (Throwable t) {
      connection.thrown(this, t, "the handler");
    }
  }

  private static void announce(Connection connection) {
    if (!connection.announced) {
      connection.announced = true;
      connection.handler.connected(connection);
    }
  }

  @Override
  void serve(Connection connection) {
    if (connection.finished) {
      return;
    }
    busy();
    try {
      if (connection.isAnnouncing()) {
        announce(connection);
      }
      if (connection.takeWritable() && connection.announced && connection.isOpen()) {
        connection.handler.writable(connection);
      }
    } catch (Throwable t) {
      connection.thrown(this, t, "the handler");
    }
    if (connection.large.arrived) {
      arrived(connection);
    }
    free();
    if (connection.stage() == Connection.DELIVERING) {
      if (!isBroken()) {
        drain();
      }
      connection.stage(Connection.DESTROYING);
      connection.scheduleSending();
    } else if (connection.stage() == Connection.FINISHING) {
      finish(connection);
    }
  }

  /** A large message was read. */
  private void arrived(Connection connection) {
    LargeMessages large = connection.large;
    if (connection.delivers()) {
      count.add(Count.LARGE_IN, 1);
      if (connection.largeMessage == null) {
        connection.largeMessage = new Message(this, -1, MemorySegment.NULL);
      }
      Message message = connection.largeMessage;
      message.connection = connection;
      message.filled(large.buffer.memory(), large.arrivedLength());
      hand(connection, message);
      boolean ignored = message.over();
    }
    node.largeBuffers.give(large.buffer);
    large.handled();
    connection.scheduleSending();
  }

  private void finish(Connection connection) {
    if (!isBroken()) {
      drain();
    }
    table.remove(connection);
    LargeMessages large = connection.large;
    if (large.buffer != null) {
      node.largeBuffers.give(large.buffer);
      large.handled();
    }
    while (large.taken(connection, OperationListener.CLOSED)) {
      // Each is told.
    }
    if (connection.announced) {
      busy();
      try {
        connection.handler.closed(connection, connection.finalReason());
      } catch (Throwable t) {
        connection.thrown(this, t, "the handler");
      }
      free();
    }
    connection.finished = true;
    if (connection.owedEntries == 0) {
      node.leaves(connection);
    }
    node.finished(connection);
    connection.over();
  }

  /** A message that was kept comes back; by any thread. */
  void released(Message message) {
    while (!released.offer(message)) {
      Thread.onSpinWait();
    }
    wake();
  }

  @Override
  boolean more() {
    boolean worked = false;
    for (Message message = released.poll(); message != null; message = released.poll()) {
      circle.free(message.index);
      worked = true;
    }
    return (canRepay() && refill(0)) || worked;
  }

  @Override
  boolean hasMore() {
    return !released.isEmpty();
  }

  @Override
  boolean isImpatient() {
    // The device has refused requests: it is asked again.
    return canRepay();
  }

  @Override
  void release() {
    circle.region.close();
    requests.close();
    super.release();
  }
}

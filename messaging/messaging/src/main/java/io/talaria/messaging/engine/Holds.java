// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.records.Records;
import io.talaria.messaging.ring.RingBrokenException;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Which receivers hold their senders back on a connection, in both directions.
 *
 * <p>A HOLD carries a number that grows with each one for the same receiver: odd holds back, even
 * releases. The largest number is the last word, because a HOLD that waits in the outbox may be
 * overtaken by a later one.
 */
public final class Holds {
  private final Connection connection;

  /** The numbers that were sent, by own receiver; made when the first is. Poller. */
  private int[] sent;

  /** The numbers that have come, by receiver there; made when the first comes. */
  private volatile AtomicIntegerArray received;

  Holds(Connection connection) {
    this.connection = connection;
  }

  /** Tells the peer to hold back what is for a receiver; false if that was told. Poller. */
  boolean hold(int receiver) {
    if (sent == null) {
      sent = new int[connection.types.length << 1];
    }
    if ((sent[receiver] & 1) != 0) {
      return false;
    }
    tell(receiver);
    return true;
  }

  /** Tells the peer to send to a receiver again. Poller. */
  void release(int receiver) {
    if (!connection.dead()) {
      tell(receiver);
    }
  }

  private void tell(int receiver) {
    connection.control(Records.HOLD, receiver, sent[receiver] + 1);
    sent[receiver]++;
  }

  /** A HOLD has come. Holder of the control ring's receiver. */
  void received(int receiver, int number) {
    int count = connection.node.types().entries().size() << 1;
    if (receiver < 0 || receiver >= count) {
      throw new RingBrokenException("HOLD of receiver " + receiver + " of " + count);
    }
    AtomicIntegerArray table = received;
    if (table == null) {
      table = new AtomicIntegerArray(count);
      received = table;
    }
    if (number - table.get(receiver) > 0) {
      table.set(receiver, number);
      if ((number & 1) == 0) {
        connection.sender().wake();
      }
    }
  }

  /** Whether the peer has too much for a receiver. Any thread. */
  public boolean heldBack(int receiver) {
    AtomicIntegerArray table = received;
    return table != null && (table.get(receiver) & 1) != 0;
  }
}

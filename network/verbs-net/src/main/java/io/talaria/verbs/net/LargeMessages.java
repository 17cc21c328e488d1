// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.talaria.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The large messages of a connection, both ways. The sender tells where its memory is; the receiver
 * reads it, hands it to the handler, and tells how many it has taken; then the memory is the
 * sender's again. A few may be under way each way; they are taken in order, one after the other.
 *
 * <p>A large message is announced by a message of {@value #HEADER_BYTES} bytes, most significant
 * byte first: address 8, length 8, key 4, zero 4.
 */
final class LargeMessages {
  static final int HEADER_BYTES = 24;

  /** How many may be under way each way: a power of two. */
  static final int MAX_MESSAGES = 4;

  private static final ValueLayout.OfLong LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final VarHandle OUTSTANDING = handle("outstanding");
  private static final VarHandle SENT = handle("sent");
  private static final VarHandle OFFERED = handle("offered");
  private static final VarHandle DONE = handle("done");

  // Outgoing: what is under way, from the send thread to the receive thread.
  private final RegisteredMemory[] memory = new RegisteredMemory[MAX_MESSAGES];
  private final OperationListener[] listener = new OperationListener[MAX_MESSAGES];
  private final long[] token = new long[MAX_MESSAGES];

  /** How many places are taken by producers. */
  @SuppressWarnings("UnusedVariable") // by its handle
  private int outstanding;

  private int sent;

  /** Confined to the receive thread. */
  private int taken;

  // Incoming: what is offered, from the receive thread to the send thread.
  private final long[] address = new long[MAX_MESSAGES];
  private final long[] length = new long[MAX_MESSAGES];
  private final int[] key = new int[MAX_MESSAGES];
  private int offered;

  /** How many were read and handled. Written by the receive thread. */
  private int done;

  /** How many reads were begun. Confined to the send thread. */
  int started;

  /** Of how many the peer was told. Confined to the send thread. */
  int reported;

  /** Where the read that is under way goes. Written by the send thread before it is posted. */
  MemoryRegion buffer;

  /** The read is done: the receive thread's turn. */
  volatile boolean arrived;

  private static VarHandle handle(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(LargeMessages.class, field, int.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  static void header(MemorySegment to, RegisteredMemory from, long offset, long bytes) {
    to.set(LONG, 0, from.region.remoteAddress() + offset);
    to.set(LONG, 8, bytes);
    to.set(INT, 16, from.region.remoteKey());
    to.set(INT, 20, 0);
  }

  /** Where the message of a number is. The numbers may overflow. */
  private static int slot(int number) {
    return number & (MAX_MESSAGES - 1);
  }

  /** Takes a place for an outgoing one. */
  boolean enter() {
    int now;
    do {
      now = (int) OUTSTANDING.getAcquire(this);
      if (now == MAX_MESSAGES) {
        return false;
      }
    } while (!OUTSTANDING.compareAndSet(this, now, now + 1));
    return true;
  }

  void leave() {
    int ignored = (int) OUTSTANDING.getAndAdd(this, -1);
  }

  boolean isIdle() {
    return (int) OUTSTANDING.getAcquire(this) == 0;
  }

  /** One is posted; by the send thread, in order. */
  void sent(RegisteredMemory from, OperationListener whom, long what) {
    int slot = slot(sent);
    memory[slot] = from;
    listener[slot] = whom;
    token[slot] = what;
    SENT.setRelease(this, sent + 1);
  }

  /** The peer has taken one, or the connection is over; false: there is none. */
  boolean taken(Connection connection, int status) {
    if (taken == (int) SENT.getAcquire(this)) {
      return false;
    }
    int slot = slot(taken++);
    OperationListener whom = listener[slot];
    long what = token[slot];
    memory[slot].leave();
    memory[slot] = null;
    listener[slot] = null;
    leave(); // the next one may have the slot now
    connection.tell(whom, what, status);
    return true;
  }

  /** The peer offers one; false: it may not. By the receive thread. */
  boolean offered(Message message, long maxBytes) {
    if (message.length() != HEADER_BYTES || offered - done >= MAX_MESSAGES) {
      return false;
    }
    int slot = slot(offered);
    MemorySegment bytes = message.header();
    address[slot] = bytes.get(LONG, 0);
    length[slot] = bytes.get(LONG, 8);
    key[slot] = bytes.get(INT, 16);
    if (length[slot] < 1 || length[slot] > maxBytes) {
      return false;
    }
    OFFERED.setRelease(this, offered + 1);
    return true;
  }

  /** Whether a read is to be begun; by the send thread. */
  boolean wantsToRead() {
    return started == (int) DONE.getAcquire(this) && started != (int) OFFERED.getAcquire(this);
  }

  long nextLength() {
    return length[slot(started)];
  }

  long nextAddress() {
    return address[slot(started)];
  }

  int nextKey() {
    return key[slot(started)];
  }

  /** The length of what has arrived; by the receive thread. */
  long arrivedLength() {
    return length[slot(done)];
  }

  /** It was handled; by the receive thread. */
  void handled() {
    arrived = false;
    buffer = null;
    DONE.setRelease(this, done + 1);
  }

  /** Of how many the peer is to be told; by the send thread. */
  int unreported() {
    return (int) DONE.getAcquire(this) - reported;
  }
}

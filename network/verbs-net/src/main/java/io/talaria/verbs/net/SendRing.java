// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What a connection is to send: a ring of records that many threads fill and the send thread takes.
 *
 * <pre>{@code
 *   completed          posted            tail
 *   |  under way       |  published or   |  free
 *   |  at the device   |  being written  |
 * --+------------------+-----------------+----------> position
 * }</pre>
 *
 * <p>A record is claimed by moving the tail, written, then published. The tail moves only while a
 * request slot is free and, for messages, while the peer has granted a receive request; so what is
 * in the ring can always be posted. Bit 63 of the tail says that the ring is shut.
 */
final class SendRing {
  /** There is no request slot, or no receive request of the peer. */
  static final long BACK_PRESSURED = -1;

  /** The ring is shut. */
  static final long SHUT = -2;

  static final byte MESSAGE = 0;
  static final byte LARGE = 1;
  static final byte READ = 2;
  static final byte WRITE = 3;
  static final byte FETCH_ADD = 4;
  static final byte COMPARE_SWAP = 5;

  private static final VarHandle TAIL = handle("tail", long.class);
  private static final VarHandle COMPLETED = handle("completed", int.class);
  private static final VarHandle GRANTED = handle("granted", int.class);
  private static final VarHandle PUBLISHED = MethodHandles.arrayElementVarHandle(int[].class);
  private static final int MESSAGES_MASK = 0x7fffffff;

  // The records; written by who has claimed, read by the send thread once published.
  final byte[] kind;
  final Slice[] subject;
  final RegisteredMemory[] memory;
  final long[] offset;
  final int[] length;
  final long[] remoteAddress;
  final int[] remoteKey;
  final long[] first;
  final long[] second;
  final OperationListener[] listener;
  final long[] token;

  private final int capacity;
  private final int mask;
  private final int[] published;

  /** Shut (1 bit), messages claimed (31), position of the next record (32). */
  @SuppressWarnings("UnusedVariable") // by its handle
  private long tail;

  /** Before which position all is done. Written by the send thread. */
  private int completed;

  /** How many messages may be claimed in all, modulo 2^31. Written by the receive thread. */
  private int granted;

  SendRing(int capacity, int window) {
    this.capacity = capacity;
    mask = capacity - 1;
    published = new int[capacity];
    kind = new byte[capacity];
    subject = new Slice[capacity];
    memory = new RegisteredMemory[capacity];
    offset = new long[capacity];
    length = new int[capacity];
    remoteAddress = new long[capacity];
    remoteKey = new int[capacity];
    first = new long[capacity];
    second = new long[capacity];
    listener = new OperationListener[capacity];
    token = new long[capacity];
    granted = window;
  }

  private static VarHandle handle(String field, Class<?> type) {
    try {
      return MethodHandles.lookup().findVarHandle(SendRing.class, field, type);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  /** The place of a position in the arrays. */
  int slot(int position) {
    return position & mask;
  }

  /**
   * Claims a record: its position in the low 32 bits, or {@link #BACK_PRESSURED} or {@link #SHUT}.
   * A thread that has claimed a record must publish it.
   */
  long claim(boolean message) {
    while (true) {
      long at = (long) TAIL.getAcquire(this);
      if (at < 0) {
        return SHUT;
      }
      int position = (int) at;
      if (position - (int) COMPLETED.getAcquire(this) >= capacity) {
        return BACK_PRESSURED;
      }
      int messages = (int) (at >>> 32);
      if (message) {
        if ((((int) GRANTED.getAcquire(this) - messages) & MESSAGES_MASK) == 0) {
          return BACK_PRESSURED;
        }
        messages = (messages + 1) & MESSAGES_MASK;
      }
      long next = ((long) messages << 32) | ((position + 1) & 0xffffffffL);
      if (TAIL.compareAndSet(this, at, next)) {
        return position & 0xffffffffL;
      }
    }
  }

  /** Whether a message could be claimed now, or the ring is shut. */
  boolean roomOrShut() {
    long at = (long) TAIL.getAcquire(this);
    return at < 0
        || ((int) at - (int) COMPLETED.getAcquire(this) < capacity
            && (((int) GRANTED.getAcquire(this) - (int) (at >>> 32)) & MESSAGES_MASK) != 0);
  }

  /** Whether it is for want of credit that a message could not be claimed. */
  boolean withoutCredit() {
    long at = (long) TAIL.getAcquire(this);
    return (((int) GRANTED.getAcquire(this) - (int) (at >>> 32)) & MESSAGES_MASK) == 0;
  }

  void publish(int position) {
    PUBLISHED.setRelease(published, slot(position), position + 1);
  }

  /** Whether the record is written; by the send thread. */
  boolean isPublished(int position) {
    return (int) PUBLISHED.getAcquire(published, slot(position)) == position + 1;
  }

  /** Behind the last record that is claimed. */
  int end() {
    return (int) (long) TAIL.getAcquire(this);
  }

  /** Refuses all further claims. */
  void shut() {
    long ignored = (long) TAIL.getAndBitwiseOr(this, Long.MIN_VALUE);
  }

  int completed() {
    return completed;
  }

  /** Gives the record's slot back; by the send thread, in order. */
  void complete(int position) {
    int slot = slot(position);
    subject[slot] = null;
    memory[slot] = null;
    listener[slot] = null;
    COMPLETED.setRelease(this, position + 1);
  }

  /** The peer has posted so many more receive requests; by the receive thread. */
  void grant(int more) {
    GRANTED.setRelease(this, (granted + more) & MESSAGES_MASK);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * A message that has arrived, where the device has put it. Valid in {@link
 * ConnectionHandler#message}, and until {@link #release} if it was kept; the object is used again
 * for other messages then. Numbers are in the byte order of this machine. Reading allocates
 * nothing, except {@link #segment}.
 */
public final class Message {
  private static final VarHandle STATE = handle();
  private static final int OVER = 0;
  private static final int HERE = 1;
  private static final int KEPT = 2;

  /** The number of its slice; -1: a large message, in memory of its own. */
  final int index;

  private final ReceiveThread thread;
  private MemorySegment memory;

  // Of the message that is in it now; written by the receive thread.
  Connection connection;
  int immediate;
  int status;
  private long length;

  @SuppressWarnings("UnusedVariable") // by its handle
  private int state;

  Message(ReceiveThread thread, int index, MemorySegment memory) {
    this.thread = thread;
    this.index = index;
    this.memory = memory;
  }

  private static VarHandle handle() {
    try {
      return MethodHandles.lookup().findVarHandle(Message.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  void filled(long bytes) {
    length = bytes;
    STATE.setRelease(this, HERE);
  }

  void filled(MemorySegment where, long bytes) {
    memory = where;
    filled(bytes);
  }

  /** The handler has returned: whether the slice is free. */
  boolean over() {
    return STATE.compareAndSet(this, HERE, OVER);
  }

  /** The first bytes of the announcement of a large message. */
  MemorySegment header() {
    return memory;
  }

  private MemorySegment valid() {
    if ((int) STATE.getOpaque(this) == OVER) {
      throw new IllegalStateException(
          "the message is over: it is valid in the handler's call, or from keep() to release()");
    }
    return memory;
  }

  /**
   * How long it is.
   *
   * @return a number of bytes, from 0
   */
  public long length() {
    return length;
  }

  /**
   * Reads a byte.
   *
   * @param offset from 0
   * @return 8 bits
   */
  public byte byteAt(long offset) {
    return valid().get(JAVA_BYTE, Objects.checkFromIndexSize(offset, 1L, length));
  }

  /**
   * Reads 32 bits.
   *
   * @param offset from 0
   * @return 32 bits
   */
  public int intAt(long offset) {
    return valid().get(JAVA_INT_UNALIGNED, Objects.checkFromIndexSize(offset, 4L, length));
  }

  /**
   * Reads 64 bits.
   *
   * @param offset from 0
   * @return 64 bits
   */
  public long longAt(long offset) {
    return valid().get(JAVA_LONG_UNALIGNED, Objects.checkFromIndexSize(offset, 8L, length));
  }

  /**
   * Copies a part of it.
   *
   * @param offset where the part begins
   * @param to where to
   * @param toOffset where in that
   * @param bytes how much
   */
  public void copyTo(long offset, MemorySegment to, long toOffset, long bytes) {
    long from = Objects.checkFromIndexSize(offset, bytes, length);
    MemorySegment.copy(valid(), from, to, toOffset, bytes);
  }

  /**
   * All of it, as long as the message is valid.
   *
   * @return a read-only segment of the length of the message
   */
  public MemorySegment segment() {
    return valid().asSlice(0, length).asReadOnly();
  }

  /**
   * Keeps the message beyond the handler's call. Its slice is missing until it is released: if all
   * are kept, the peers of this receive thread get no credit.
   *
   * @throws IllegalStateException if the message is large, or over, or already kept
   */
  public void keep() {
    if (index < 0) {
      throw new IllegalStateException("a large message cannot be kept: copy it");
    }
    if (!STATE.compareAndSet(this, HERE, KEPT)) {
      throw new IllegalStateException("only a message that the handler has just got can be kept");
    }
  }

  /**
   * Gives back a message that was kept, from any thread.
   *
   * @throws IllegalStateException if it was not kept
   */
  public void release() {
    if (!STATE.compareAndSet(this, KEPT, OVER)) {
      throw new IllegalStateException("the message is not kept");
    }
    thread.released(this);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A piece of a send thread's registered block, in which a message is written in place. The thread
 * that borrows it owns it until it is sent or released; then that thread must not touch it any
 * more, because the device reads it and another thread may borrow it next. One thread at a time.
 */
public final class Slice {
  private static final VarHandle STATE = handle();
  private static final int FREE = 0;
  private static final int BORROWED = 1;
  private static final int SENT = 2;

  final SlicePool pool;
  final long offset;
  private final MemorySegment memory;

  @SuppressWarnings("UnusedVariable") // by its handle
  private int state;

  Slice(SlicePool pool, long offset, MemorySegment memory) {
    this.pool = pool;
    this.offset = offset;
    this.memory = memory;
  }

  private static VarHandle handle() {
    try {
      return MethodHandles.lookup().findVarHandle(Slice.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  /**
   * The memory to write into. What a previous message has left is still there.
   *
   * @return a segment of the length of a slice
   * @throws IllegalStateException if the slice is not borrowed
   */
  public MemorySegment memory() {
    if ((int) STATE.getOpaque(this) != BORROWED) {
      throw new IllegalStateException("the slice is not borrowed: it was sent or released");
    }
    return memory;
  }

  /**
   * How long it is.
   *
   * @return a number of bytes
   */
  public int capacity() {
    return (int) memory.byteSize();
  }

  /**
   * Gives it back without sending it.
   *
   * @throws IllegalStateException if it is not borrowed
   */
  public void release() {
    take();
    free();
  }

  /** It leaves the pool. */
  void borrowed() {
    STATE.setOpaque(this, BORROWED);
  }

  /** It is the library's from now on. */
  void take() {
    if (!STATE.compareAndSet(this, BORROWED, SENT)) {
      throw new IllegalStateException("the slice is not borrowed: it was sent or released");
    }
  }

  /** It is the caller's again: it could not be sent. */
  void untake() {
    STATE.setRelease(this, BORROWED);
  }

  /** Back to the pool. */
  void free() {
    STATE.setRelease(this, FREE);
    pool.free(this);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A place for a request under way. Its state is one word, changed by compare-and-set, so a
 * response, a time-out, a cancellation and the end of the connection meet only one winner.
 *
 * <pre>
 *   generation 32 | 0 | status:  FREE → OPEN → FILLING → DONE → FREE (next generation)
 *                                       OPEN → FREE (given up)
 *                                                 DONE → TAKING → FREE (who takes it is not alone)
 * </pre>
 */
final class ResponseSlot {
  static final int FREE = 0;
  static final int OPEN = 1;
  static final int FILLING = 2;
  static final int DONE = 3;
  static final int TAKING = 4;

  /** Of the first memory that it takes. */
  static final int SMALL_BYTES = 512;

  private static final int SHIFT = 32;
  private static final String NO_MEMORY = "there is no native memory here for the response";
  private static final String UNREADABLE = "the response could not be taken in";

  final int index;
  private final AtomicLong word = new AtomicLong();

  /** Of a request without {@link #owner}. */
  private volatile Thread waiter;

  /** Set before the request is sent. */
  volatile Connection connection;

  /**
   * Whose response is collected later, see {@link PendingResponse#sweep}; null: a thread waits for
   * it.
   */
  volatile PendingResponse<?> owner;

  // Written while FILLING, read when DONE.
  private MemorySegment buffer = MemorySegment.NULL;
  private int bytes;
  private TypeEntry type;
  private MessagingException.Code failure;
  private String failureText;

  /** Bytes of the buffer that {@link ResponseSlots} has counted; of whoever gives the slot back. */
  long counted;

  ResponseSlot(int index) {
    this.index = index;
  }

  /** Begins a request; returns its generation. By who has taken the slot. */
  int open() {
    int generation = generation();
    connection = null;
    waiter = null;
    failure = null;
    failureText = null;
    type = null;
    word.set(word(generation, OPEN));
    return generation;
  }

  private static long word(int generation, int status) {
    return (long) generation << SHIFT | status;
  }

  int generation() {
    return (int) (word.get() >>> SHIFT);
  }

  boolean done(int generation) {
    return word.get() == word(generation, DONE);
  }

  /** Whether that request is over and its place used for another. */
  boolean gone(int generation) {
    long now = word.get();
    return (int) (now >>> SHIFT) != generation || (int) now == FREE;
  }

  /** Whether that request has a response or a failure, or is over. */
  boolean ended(int generation) {
    long now = word.get();
    return now != word(generation, OPEN) && now != word(generation, FILLING);
  }

  boolean isOpen() {
    return (int) word.get() == OPEN;
  }

  /** Fills in a response's bytes; false if nobody waits for it any more. */
  boolean complete(
      Connection from,
      int generation,
      TypeEntry responseType,
      MemorySegment memory,
      long offset,
      int length) {
    if (connection != from
        || !word.compareAndSet(word(generation, OPEN), word(generation, FILLING))) {
      return false;
    }
    try {
      if (buffer.byteSize() < length) {
        buffer = Arena.ofAuto().allocate(Math.max(SMALL_BYTES, length), 8);
      }
      MemorySegment.copy(memory, offset, buffer, 0, length);
      bytes = length;
      type = responseType;
    } catch (Throwable e) { // whoever waits is told, with what is there: there may be no memory
      boolean noMemory = e instanceof OutOfMemoryError;
      failure = noMemory ? MessagingException.Code.BACK_PRESSURED : MessagingException.Code.LOST;
      failureText = noMemory ? NO_MEMORY : UNREADABLE;
      finish(generation);
      if (noMemory) {
        return true; // that one fails, and the connection goes on
      }
      throw e;
    }
    finish(generation);
    return true;
  }

  /** Ends it with a failure. */
  boolean fail(Connection from, int generation, MessagingException.Code code, String text) {
    if (connection != from
        || !word.compareAndSet(word(generation, OPEN), word(generation, FILLING))) {
      return false;
    }
    failure = code;
    failureText = text;
    finish(generation);
    return true;
  }

  /** Ends it with a failure, whatever its generation, if it is open on a connection. */
  void failOpen(Connection from, MessagingException.Code code, String text) {
    if (isOpen() && connection == from) {
      fail(from, generation(), code, text);
    }
  }

  private void finish(int generation) {
    word.set(word(generation, DONE));
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    PendingResponse<?> pending = owner;
    if (pending != null) {
      pending.ended(generation);
    }
  }

  void await(Thread thread) {
    waiter = thread;
  }

  /** Gives it up; false if it is being filled or done. */
  boolean giveUp(int generation) {
    return word.compareAndSet(word(generation, OPEN), word(generation + 1, FREE));
  }

  /** Ends a request that is done, without its result; nothing if it was given up. */
  void reset(int generation) {
    word.compareAndSet(word(generation, DONE), word(generation + 1, FREE));
  }

  /** Takes a request that is done for the caller alone; false if it is not done, or another's. */
  boolean beginTake(int generation) {
    return word.compareAndSet(word(generation, DONE), word(generation, TAKING));
  }

  /** Ends a request after {@link #beginTake}. */
  void free(int generation) {
    word.set(word(generation + 1, FREE));
  }

  /** Bytes of memory that it has. */
  long memoryBytes() {
    return buffer.byteSize();
  }

  /** Gives its memory to the collector. */
  void forgetMemory() {
    buffer = MemorySegment.NULL;
  }

  /** The result of a request whose slot is for another. Of whoever has taken it. */
  static final class Kept {
    private MemorySegment buffer;
    private int bytes;
    private TypeEntry type;
    private MessagingException.Code failure;
    private String failureText;

    Object take(ThreadContext context, Class<?> wanted) throws MessagingException {
      return result(context, wanted, failure, failureText, type, buffer, bytes);
    }
  }

  /** Hands its result over, memory and all. After {@link #beginTake}. */
  void handOver(Kept to) {
    to.buffer = buffer;
    to.bytes = bytes;
    to.type = type;
    to.failure = failure;
    to.failureText = failureText;
    buffer = MemorySegment.NULL;
  }

  /** Takes the result, and ends the request. By the one who collects. */
  Object take(int generation, ThreadContext context, Class<?> wanted) throws MessagingException {
    try {
      return result(context, wanted, failure, failureText, type, buffer, bytes);
    } finally {
      free(generation);
    }
  }

  private static Object result(
      ThreadContext context,
      Class<?> wanted,
      MessagingException.Code code,
      String text,
      TypeEntry type,
      MemorySegment buffer,
      int bytes)
      throws MessagingException {
    if (code != null) {
      throw new MessagingException(code, text);
    }
    if (type == null || !wanted.isAssignableFrom(type.type)) {
      throw new MessagingException(
          MessagingException.Code.TYPE_MISMATCH,
          "the response is a "
              + (type == null ? "type that is not known here" : type.name())
              + ", not a "
              + wanted.getName());
    }
    return decode(context, type, buffer, bytes);
  }

  private static Object decode(
      ThreadContext context, TypeEntry type, MemorySegment buffer, int bytes)
      throws MessagingException {
    context.inCodec = true;
    try {
      Object response = type.codec.read(context.in.over(buffer, 0, bytes));
      context.in.expectEnd();
      return response;
    } catch (Throwable e) { // of its codec or constructor
      throw new MessagingException(
          MessagingException.Code.TYPE_MISMATCH, "the response cannot be read: " + Thrown.text(e));
    } finally {
      context.in.done();
      context.inCodec = false;
    }
  }
}

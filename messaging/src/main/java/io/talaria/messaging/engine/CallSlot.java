// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A place for a question under way. Its state is one word, changed by compare-and-set, so an
 * answer, a time-out, a cancellation and the end of the connection meet only one winner.
 *
 * <pre>
 *   generation 32 | 0 | status:  FREE → OPEN → FILLING → DONE → FREE (next generation)
 *                                       OPEN → FREE (given up)
 * </pre>
 */
final class CallSlot {
  static final int FREE = 0;
  static final int OPEN = 1;
  static final int FILLING = 2;
  static final int DONE = 3;

  private static final int SMALL_BYTES = 512;
  private static final int KEPT_BYTES = 64 << 10;
  private static final int SHIFT = 32;
  private static final String NO_MEMORY = "there is no native memory here for the answer";
  private static final String UNREADABLE = "the answer could not be taken in";

  final int index;
  private final AtomicLong word = new AtomicLong();
  private volatile Thread waiter;

  /** Set before the question is sent. */
  volatile Connection connection;

  /** Run when done, once; or null. */
  volatile Runnable whenDone;

  // Written while FILLING, read when DONE.
  private MemorySegment buffer = MemorySegment.NULL;
  private int bytes;
  private TypeEntry type;
  private MessagingException.Code failure;
  private String failureText;

  CallSlot(int index) {
    this.index = index;
  }

  /** Begins a call; returns its generation. By who has taken the slot. */
  int open() {
    int generation = generation();
    connection = null;
    waiter = null;
    whenDone = null;
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

  /** Whether that call is over and its place used for another. */
  boolean gone(int generation) {
    long now = word.get();
    return (int) (now >>> SHIFT) != generation || (int) now == FREE;
  }

  boolean isOpen() {
    return (int) word.get() == OPEN;
  }

  /** Fills in an answer's bytes; false if nobody waits for it any more. */
  boolean answer(
      Connection from,
      int generation,
      TypeEntry answerType,
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
      type = answerType;
    } catch (Throwable e) { // whoever waits is told, with what is there: there may be no memory
      boolean noMemory = e instanceof OutOfMemoryError;
      failure = noMemory ? MessagingException.Code.NO_ROOM : MessagingException.Code.LOST;
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
      boolean unused = fail(from, generation(), code, text);
    }
  }

  private void finish(int generation) {
    word.set(word(generation, DONE));
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    Runnable then = whenDone;
    if (then != null) {
      then.run();
    }
  }

  void await(Thread thread) {
    waiter = thread;
  }

  /** Gives it up; false if it is being filled or done. */
  boolean giveUp(int generation) {
    return word.compareAndSet(word(generation, OPEN), word(generation + 1, FREE));
  }

  /** Ends a call that is done, without its result; nothing if it was given up. */
  void reset(int generation) {
    boolean unused = word.compareAndSet(word(generation, DONE), word(generation + 1, FREE));
  }

  /** Takes the result, and ends the call. By the one who collects. */
  Object take(int generation, ThreadContext context, Class<?> wanted) throws MessagingException {
    MessagingException.Code code = failure;
    String text = failureText;
    try {
      if (code != null) {
        throw new MessagingException(code, text);
      }
      if (type == null || !wanted.isAssignableFrom(type.type)) {
        throw new MessagingException(
            MessagingException.Code.TYPE_MISMATCH,
            "the answer is a "
                + (type == null ? "type that is not known here" : type.name())
                + ", not a "
                + wanted.getName());
      }
      return decode(context);
    } finally {
      if (buffer.byteSize() > KEPT_BYTES) {
        buffer = MemorySegment.NULL;
      }
      whenDone = null;
      word.set(word(generation + 1, FREE));
    }
  }

  private Object decode(ThreadContext context) throws MessagingException {
    context.inCodec = true;
    try {
      Object answer = type.codec.read(context.in.over(buffer, 0, bytes));
      context.in.expectEnd();
      return answer;
    } catch (RuntimeException | StackOverflowError e) {
      throw new MessagingException(
          MessagingException.Code.TYPE_MISMATCH, "the answer cannot be read: " + e);
    } finally {
      context.in.done();
      context.inCodec = false;
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Holds the response of one open request, and is reused for later requests.
 *
 * <p>Its state is one word, changed by compare-and-set, so that only one of a response, a timeout,
 * a cancellation and the end of the connection takes effect.
 *
 * <pre>
 *   generation 32 | 0 | status:  FREE → OPEN → FILLING → DONE → FREE (next generation)
 *                                       OPEN → FREE (given up)
 *                                                 DONE → TAKING → FREE (if several may take)
 * </pre>
 */
public final class ResponseSlot {
  /** The future of a request whose response is collected later. */
  public interface Owner {
    /** The request is done. Called by the thread that has filled the slot. */
    void ended(int generation);

    /**
     * Frees the slot if the request is done, after moving the response out of it, or if the timeout
     * has passed. Any thread.
     *
     * @return whether the request is open and has consumers, which must be called at its timeout
     */
    boolean sweep(long nowNs);

    /** When the timeout passes, as of {@link System#nanoTime}. */
    long deadlineNs();
  }

  static final int FREE = 0;
  static final int OPEN = 1;
  static final int FILLING = 2;
  static final int DONE = 3;
  static final int TAKING = 4;

  /** The least bytes that a buffer has once it is allocated. */
  static final int SMALL_BYTES = 512;

  private static final VarHandle WAITER;
  private static final VarHandle CONNECTION;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      WAITER = lookup.findVarHandle(ResponseSlot.class, "waiter", Thread.class);
      CONNECTION = lookup.findVarHandle(ResponseSlot.class, "connection", Connection.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int SHIFT = 32;
  private static final String NO_MEMORY = "there is no native memory here for the response";
  private static final String UNREADABLE = "the response could not be taken in";

  public final int index;
  private final AtomicLong word = new AtomicLong();

  /** The thread that waits for the response, if there is no {@link #owner}. */
  private volatile Thread waiter;

  /** Set before the request is sent, by {@link #open} or {@link #moveTo}; null while free. */
  public volatile Connection connection;

  /**
   * When the request began, as of {@link System#nanoTime}. For the requesting thread, until it has
   * made a future.
   */
  public long begunNs;

  /**
   * The future of a request whose response is collected later; null if the requesting thread itself
   * waits.
   */
  public volatile Owner owner;

  // Written while FILLING, read when DONE.
  private MemorySegment buffer = MemorySegment.NULL;
  private int bytes;
  private TypeEntry type;
  private MessagingException.Code failure;
  private String failureText;

  /**
   * Bytes of the buffer that {@link ResponseSlots} has counted. Used only by the thread that gives
   * the slot back.
   */
  long counted;

  ResponseSlot(int index) {
    this.index = index;
  }

  /**
   * Begins a request and returns its generation. For the thread that has taken the slot.
   *
   * <p>Without a fence: who fails the requests of a connection seals its ring first, and then looks
   * at the slots; a request that it does not see comes after the seal, and finds the ring sealed.
   *
   * @param on the connection on which the request is to be sent, or null if there is none yet
   */
  public int open(Connection on) {
    int generation = generation();
    CONNECTION.setRelease(this, on);
    WAITER.setRelease(this, null);
    failure = null;
    failureText = null;
    type = null;
    word.setRelease(word(generation, OPEN));
    return generation;
  }

  /**
   * Begins a request again of which nothing was sent whole, and returns its generation, which
   * changes with the connection. So the end of the former connection cannot fail the request that
   * is sent on this one, even if the thread that ends it has already seen the request there. For
   * the requesting thread, while there is no {@link #owner}.
   */
  public int moveTo(Connection to, int generation) {
    if (connection == to) {
      return generation;
    }
    while (!giveUp(generation) && !reset(generation)) {
      Thread.onSpinWait(); // the thread that ends the former connection is filling it
    }
    return open(to);
  }

  private static long word(int generation, int status) {
    return (long) generation << SHIFT | status;
  }

  /**
   * The generation of the request that has this slot, or of the next one. For the requesting
   * thread, until it has made a future; others may see it change.
   */
  public int generation() {
    return (int) (word.get() >>> SHIFT);
  }

  public boolean done(int generation) {
    return word.get() == word(generation, DONE);
  }

  /** Whether the request has left this slot. */
  public boolean gone(int generation) {
    long now = word.get();
    return (int) (now >>> SHIFT) != generation || (int) now == FREE;
  }

  /** Whether the request has a response or a failure, or has left this slot. */
  public boolean ended(int generation) {
    long now = word.get();
    return now != word(generation, OPEN) && now != word(generation, FILLING);
  }

  boolean isOpen() {
    return (int) word.get() == OPEN;
  }

  /**
   * Completes the request with a copy of a response's bytes; false if it is no longer open.
   *
   * @param byWaiter whether this is the thread that waits for it, so that nobody must be told
   */
  boolean complete(
      Connection from,
      int generation,
      TypeEntry responseType,
      MemorySegment memory,
      long offset,
      int length,
      boolean byWaiter) {
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
    } catch (Throwable e) { // fail the request, without allocating: there may be no memory
      boolean noMemory = e instanceof OutOfMemoryError;
      failure = noMemory ? MessagingException.Code.BACK_PRESSURED : MessagingException.Code.LOST;
      failureText = noMemory ? NO_MEMORY : UNREADABLE;
      finish(generation, byWaiter);
      if (noMemory) {
        return true; // only this request fails, the connection stays
      }
      throw e;
    }
    finish(generation, byWaiter);
    return true;
  }

  /** Completes the request with a failure; false if it is no longer open. */
  boolean fail(Connection from, int generation, MessagingException.Code code, String text) {
    if (connection != from
        || !word.compareAndSet(word(generation, OPEN), word(generation, FILLING))) {
      return false;
    }
    failure = code;
    failureText = text;
    finish(generation, false);
    return true;
  }

  /** Completes any request that is open on a connection with a failure. */
  void failOpen(Connection from, MessagingException.Code code, String text) {
    if (isOpen() && connection == from) {
      fail(from, generation(), code, text);
    }
  }

  private void finish(int generation, boolean byWaiter) {
    if (byWaiter) {
      word.setRelease(word(generation, DONE));
      return;
    }
    word.set(word(generation, DONE));
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    Owner pending = owner;
    if (pending != null) {
      pending.ended(generation);
    }
  }

  public void await(Thread thread) {
    waiter = thread;
  }

  /** Gives the request up, so that a later response is ignored; false if it is no longer open. */
  public boolean giveUp(int generation) {
    return word.compareAndSet(word(generation, OPEN), word(generation + 1, FREE));
  }

  /** Frees the slot of a request that is done and drops its result; false if it is not done. */
  public boolean reset(int generation) {
    return word.compareAndSet(word(generation, DONE), word(generation + 1, FREE));
  }

  /** Reserves the result for the caller; false if it is not done, or another thread has it. */
  public boolean beginTake(int generation) {
    return word.compareAndSet(word(generation, DONE), word(generation, TAKING));
  }

  /** Frees the slot of a request whose result only the caller can take. */
  public void free(int generation) {
    word.setRelease(word(generation + 1, FREE));
  }

  /**
   * Forgets the connection, whose rings a free slot would keep. For the thread that gives the slot
   * back.
   */
  void forgetConnection() {
    CONNECTION.setRelease(this, null);
  }

  /** The buffer's size. */
  long memoryBytes() {
    return buffer.byteSize();
  }

  /** Drops the buffer, whose memory the garbage collector frees. */
  void forgetMemory() {
    buffer = MemorySegment.NULL;
  }

  /** The result of a request that has left its slot. For the thread that has taken the result. */
  public static final class Kept {
    private MemorySegment buffer;
    private int bytes;
    private TypeEntry type;
    private MessagingException.Code failure;
    private String failureText;

    public Object take(ThreadContext context, Class<?> wanted) throws MessagingException {
      return result(context, wanted, failure, failureText, type, buffer, bytes);
    }
  }

  /** Moves the result and its buffer out of the slot, after {@link #beginTake}. */
  public void handOver(Kept to) {
    to.buffer = buffer;
    to.bytes = bytes;
    to.type = type;
    to.failure = failure;
    to.failureText = failureText;
    buffer = MemorySegment.NULL;
  }

  /** Decodes the result and frees the slot. For the thread that collects the response. */
  public Object take(int generation, ThreadContext context, Class<?> wanted)
      throws MessagingException {
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
    } catch (Throwable e) { // thrown by the codec or by a constructor
      throw new MessagingException(
          MessagingException.Code.TYPE_MISMATCH, "the response cannot be read: " + Thrown.text(e));
    } finally {
      context.in.done();
      context.inCodec = false;
    }
  }
}

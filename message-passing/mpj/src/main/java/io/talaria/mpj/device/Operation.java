// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * One send or receive, from its start to its end. Mutable, and guarded by the engine's lock, but
 * for {@link #over}. A device keeps it in its queues while it is under way, so it must not be used
 * again before {@link #done}.
 */
public final class Operation {
  /** Success. */
  public static final int OK = 0;

  /** The message was longer than the receive: {@link #bytes} are there, the rest is lost. */
  public static final int TRUNCATED = 1;

  /** The message's base type is not the receive's: nothing was delivered. */
  public static final int TYPE_MISMATCH = 2;

  /** It was cancelled. */
  public static final int CANCELLED = 3;

  /** The program's memory could not be read or written; {@link #failure} says why. */
  public static final int FAILED = 4;

  /** What to send, or where to put what comes. */
  public Payload payload;

  /** Whether this is a receive. */
  public boolean receive;

  /** Destination, or source asked for. */
  public int peer;

  /** Tag, or tag asked for. */
  public int tag;

  /** Context. */
  public int context;

  /** Whether a send ends only when it was received. */
  public boolean synchronous;

  /** Whether it is over. To be read under the lock; elsewhere ask {@link #over}. */
  public boolean done;

  /** How it ended; one of this class's codes. */
  public int error;

  /** Where the message came from. */
  public int fromSource;

  /** The tag that came with it. */
  public int fromTag;

  /** Payload bytes that were received, or that a probed message has. */
  public long bytes;

  /** Payload bytes that the sender sent. */
  public long sentBytes;

  /** Base type of the message, see {@link Payload#typeCode}. */
  public int fromType;

  /** A thread to wake when this is done, or null. */
  public Thread waiter;

  /** Why it failed, or null. */
  public RuntimeException failure;

  /** For the device: what belongs to it. */
  public Object attachment;

  /** For the device: its number on the wire. */
  public long id;

  /** For the device: the peer's number for its half. */
  public long peerId;

  /** For the device: when it was posted. */
  public long order;

  /** For the device: payload bytes moved so far. */
  public long moved;

  /** For the device: payload bytes that will move. */
  public long toMove;

  /** For the device: where it is. */
  public int state;

  /** For the device: neighbours in the queue that it is in. */
  public Operation next;

  /** For the device: neighbours in the queue that it is in. */
  public Operation previous;

  private static final VarHandle DONE;

  static {
    try {
      DONE = MethodHandles.lookup().findVarHandle(Operation.class, "done", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** An empty operation. */
  public Operation() {}

  /**
   * Whether it is over, asked without the lock. If so, all that it has brought can be read.
   *
   * @return whether it is
   */
  public boolean over() {
    return (boolean) DONE.getAcquire(this);
  }

  /**
   * Makes this a fresh send.
   *
   * @param what the data
   * @param to rank
   * @param withTag tag
   * @param in context
   * @return this
   */
  public Operation send(Payload what, int to, int withTag, int in) {
    reset(what, to, withTag, in);
    receive = false;
    return this;
  }

  /**
   * Makes this a fresh receive.
   *
   * @param into where the data go
   * @param from rank or {@link Device#ANY_SOURCE}
   * @param withTag tag or {@link Device#ANY_TAG}
   * @param in context
   * @return this
   */
  public Operation receive(Payload into, int from, int withTag, int in) {
    reset(into, from, withTag, in);
    receive = true;
    return this;
  }

  private void reset(Payload what, int who, int withTag, int in) {
    if (payload != what) {
      payload = what;
    }
    peer = who;
    tag = withTag;
    context = in;
    synchronous = false;
    done = false;
    error = OK;
    fromSource = who;
    fromTag = withTag;
    bytes = 0;
    sentBytes = 0;
    fromType = 0;
    waiter = null;
    failure = null;
    attachment = null;
    id = -1;
    peerId = -1;
    order = 0;
    moved = 0;
    toMove = 0;
    state = 0;
    next = null;
    previous = null;
  }

  /**
   * Ends it, and wakes who waits. Called by the device, under the engine's lock.
   *
   * @param code how it ended
   */
  public void complete(int code) {
    error = code;
    DONE.setRelease(this, true);
    Thread waiting = waiter;
    if (waiting != null) {
      LockSupport.unpark(waiting);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.records;

import io.talaria.messaging.codec.SegmentReader;
import io.talaria.messaging.codec.SegmentWriter;
import io.talaria.messaging.types.TypeEntry;
import io.talaria.messaging.types.Types;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * The reusable objects with which a thread sends and reads messages, and its state. For its own
 * thread, except for the fields that describe an open claim: conductors read these.
 */
public final class ThreadContext {
  private static final int KEPT_BYTES = 1 << 20;
  private static final Queue<WeakReference<ThreadContext>> ALL = new ConcurrentLinkedQueue<>();
  private static final VarHandle CLAIMS;

  static {
    try {
      CLAIMS = MethodHandles.lookup().findVarHandle(ThreadContext.class, "claims", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final ThreadLocal<ThreadContext> CURRENT =
      ThreadLocal.withInitial(ThreadContext::new);

  public final SegmentWriter out = new SegmentWriter();
  public final SegmentReader in = new SegmentReader();
  public final RecordHead head = new RecordHead();

  /**
   * Whether the thread will wait for the response to the request that it is sending. If so, it
   * tries to acquire the ring receiver before it publishes the request.
   */
  public boolean wantsToLead;

  /** Whether it has acquired the ring receiver for that. */
  public boolean leads;

  /** Whether the thread is in a codec, which must not send. */
  public boolean inCodec;

  /** Whether this is a poller or a conductor, on which the program's code must not wait. */
  public boolean poller;

  private MemorySegment scratch = MemorySegment.NULL;

  /** The thread to which this belongs. */
  public final Thread thread = Thread.currentThread();

  // Conductors read these, and compare `claims` before and after: it is odd while a claim is open,
  // and another number for each claim.
  private int claims;

  /** The connection of the last claim, whose class is in the engine, which uses this package. */
  public volatile Object claimOn;

  private TypeEntry claimType;

  /** The number of the claim that was last reported. Written by conductors. */
  public volatile int reported;

  /** The type that was looked up last, and where. */
  private TypeEntry lastType;

  private Types lastTypes;

  private ThreadContext() {
    ALL.add(new WeakReference<>(this));
  }

  /**
   * Looks a message's type up, first at the one before.
   *
   * @throws IllegalArgumentException if its class is not registered
   */
  public TypeEntry typeOf(Types types, Object message) {
    TypeEntry last = lastType;
    if (last != null && last.type == message.getClass() && lastTypes == types) {
      return last;
    }
    TypeEntry found = types.of(message);
    lastType = found;
    lastTypes = types;
    return found;
  }

  /** Records that this thread opens a claim. */
  public void claims(Object on, TypeEntry type) {
    if (claimOn != on) {
      claimOn = on;
    }
    claimType = type;
    CLAIMS.setRelease(this, claims + 1);
  }

  /** Records that the claim is closed. */
  public void claimed() {
    CLAIMS.setRelease(this, claims + 1);
  }

  /** The number of the open claim, or 0 if none is open. Any thread. */
  public int openClaim() {
    int now = (int) CLAIMS.getAcquire(this);
    return (now & 1) != 0 ? now : 0;
  }

  /** The type of the last claim, for people. Any thread. */
  public String claimName() {
    TypeEntry type = claimType;
    return type == null ? "copy" : type.name();
  }

  /** Visits the contexts of all threads, and removes those of ended threads. Any thread. */
  public static void forEach(Consumer<ThreadContext> taker) {
    for (Iterator<WeakReference<ThreadContext>> each = ALL.iterator(); each.hasNext(); ) {
      ThreadContext context = each.next().get();
      if (context == null) {
        each.remove();
      } else {
        taker.accept(context);
      }
    }
  }

  public static ThreadContext current() {
    return CURRENT.get();
  }

  public MemorySegment scratch(int bytes) {
    if (scratch.byteSize() < bytes) {
      long rounded = Math.max(4096, (long) Integer.highestOneBit(bytes) << 1);
      scratch = Arena.ofAuto().allocate(rounded, 8);
    }
    return scratch;
  }

  /** Drops large scratch memory after its use. */
  public void scratchUsed() {
    if (scratch.byteSize() > KEPT_BYTES) {
      scratch = MemorySegment.NULL;
    }
  }

  public void mustNotBeInCodec() {
    if (inCodec) {
      throw new IllegalStateException(
          "a codec must not send, request or respond: do that before or after");
    }
  }

  public void mayWait() {
    mustNotBeInCodec();
    if (poller) {
      throw new IllegalStateException(
          "an INLINE receiver or a listener must not wait: use trySend, or another Dispatch");
    }
  }
}

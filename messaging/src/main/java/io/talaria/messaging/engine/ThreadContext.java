// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.codec.SegmentReader;
import io.talaria.messaging.codec.SegmentWriter;
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
 * What a thread needs to send and to read, made once. Of its thread, but for the words that say
 * which claim is open, which registrars read.
 */
final class ThreadContext {
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

  final SegmentWriter out = new SegmentWriter();
  final SegmentReader in = new SegmentReader();
  final RecordHead head = new RecordHead();

  /** The request about to be sent is waited for: take the inlet before it is shown. */
  boolean wantsToLead;

  /** That was done. */
  boolean leads;

  /** In a codec: nothing may be sent. */
  boolean inCodec;

  /** On a poller, in an INLINE receiver or not: nothing may wait. */
  boolean poller;

  private MemorySegment scratch = MemorySegment.NULL;

  /** Whose it is. */
  final Thread thread = Thread.currentThread();

  // Read by registrars, who check by the number that they belong together.
  private int claims;
  volatile Connection claimOn;
  private TypeEntry claimType;

  /** The claim that was told; of a registrar. */
  volatile int told;

  private ThreadContext() {
    ALL.add(new WeakReference<>(this));
  }

  /** A claim is open from now on. */
  void claims(Connection on, TypeEntry type) {
    if (claimOn != on) {
      claimOn = on;
    }
    claimType = type;
    CLAIMS.setRelease(this, claims + 1);
  }

  /** It is not any more. */
  void claimed() {
    CLAIMS.setRelease(this, claims + 1);
  }

  /** The number of the claim that is open; 0: none is. Any thread. */
  int openClaim() {
    int now = (int) CLAIMS.getAcquire(this);
    return (now & 1) != 0 ? now : 0;
  }

  /** Of which type it is. Any thread. */
  String claimName() {
    TypeEntry type = claimType;
    return type == null ? "copy" : type.name();
  }

  /** All that there are; forgets those whose threads have ended. Any thread. */
  static void forEach(Consumer<ThreadContext> taker) {
    for (Iterator<WeakReference<ThreadContext>> each = ALL.iterator(); each.hasNext(); ) {
      ThreadContext context = each.next().get();
      if (context == null) {
        each.remove();
      } else {
        taker.accept(context);
      }
    }
  }

  static ThreadContext current() {
    return CURRENT.get();
  }

  MemorySegment scratch(int bytes) {
    if (scratch.byteSize() < bytes) {
      long rounded = Math.max(4096, (long) Integer.highestOneBit(bytes) << 1);
      scratch = Arena.ofAuto().allocate(rounded, 8);
    }
    return scratch;
  }

  /** After use: what was large is not kept. */
  void scratchUsed() {
    if (scratch.byteSize() > KEPT_BYTES) {
      scratch = MemorySegment.NULL;
    }
  }

  void mustNotBeInCodec() {
    if (inCodec) {
      throw new IllegalStateException(
          "a codec must not send, request or respond: do that before or after");
    }
  }

  void mayWait() {
    mustNotBeInCodec();
    if (poller) {
      throw new IllegalStateException(
          "an INLINE receiver or a listener must not wait: use trySend, or another Dispatch");
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where the JVM says that mapped memory is gone. Any thread.
 *
 * <p>If a process cuts a shared file short, a thread that touches a page behind its end gets no
 * exception there: the JVM skips the instruction (a load leaves any value, a store is lost) and
 * throws an {@link InternalError} in the same thread <em>later</em>: on newer JDKs at the next
 * safepoint poll, on JDK 17 only when the thread enters the VM for something else. So no {@code
 * try} around an access is sure to catch it, and where it surfaces does not tell what memory it
 * was.
 *
 * <p>Therefore:
 *
 * <ol>
 *   <li>It is caught where calls come in: the channels' operations, a select, an item of the
 *       negotiation thread's work; never around single accesses.
 *   <li>Before these leave, they let the JVM deliver what is due: by {@link #poll} after each
 *       transfer and {@link #pollSelect} after each select, by {@link #take} where a thread is
 *       about to sleep or is on no hot path. On JDK 17 an error of the hot path may wait for some
 *       more calls; until then the damaged stream may carry garbage, and the program gets the error
 *       if it enters the VM by itself.
 *   <li>The thread that catches it has {@code TransportProvider.examine} find out whose memory is
 *       gone and fail those streams, which then no longer touch it; then the call is repeated, and
 *       finds the stream reset if it was its own. If no memory is gone, the error is not ours and
 *       is thrown on.
 *   <li>JDK 17 dies of a compare-and-set that it <em>interprets</em> on such memory, and never ends
 *       the loops of {@code getAndBitwiseOr} and its like there: shared words are changed by loops
 *       that end, after a look and a {@link #poll}.
 * </ol>
 */
public final class Faults {
  /** Whether a safepoint poll delivers it: seen on JDK 25, not on 17. */
  private static final boolean POLLED = Runtime.version().feature() > 20;

  /** While code is young it enters the VM often, to be compiled, and then an error is thrown. */
  private static final int YOUNG = 50_000;

  private static final int EVERY = 128;

  private static final VarHandle NEXT;
  private static final Step STEPS = new Step(new Step(null));

  /** A dimension that the compiler does not know. */
  private static int none;

  /** Counted apart, because a program can select a million times before its first transfer. */
  private static int transfers;

  private static int selects;

  static {
    try {
      NEXT = MethodHandles.lookup().findVarHandle(Step.class, "next", Step.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final class Step {
    @SuppressWarnings("UnusedVariable") // by NEXT
    private final Step next;

    Step(Step next) {
      this.next = next;
    }
  }

  private Faults() {}

  /**
   * After a transfer. Passes a safepoint poll, for about a nanosecond: the way back of a loop whose
   * length no compiler knows. On JDK 17, enters the VM now and then.
   *
   * @param turn how often the caller has been here
   * @throws InternalError if this thread has touched memory that is gone; on JDK 17 not every time
   */
  public static void poll(long turn) {
    if (POLLED) {
      pass();
    } else if (turn % EVERY == 0) {
      take();
    } else {
      pollYoung();
    }
  }

  /**
   * After a select: like {@link #poll}.
   *
   * @param turn how often the caller has been here
   * @throws InternalError if this thread has touched memory that is gone; on JDK 17 not every time
   */
  public static void pollSelect(long turn) {
    if (POLLED) {
      pass();
    } else if (turn % EVERY == 0) {
      take();
    } else if (selects < YOUNG) {
      selects++;
      take();
    }
  }

  /** On JDK 17, enters the VM while code may not be compiled yet; later, and elsewhere, nothing. */
  public static void pollYoung() {
    if (!POLLED && transfers < YOUNG) {
      transfers++;
      take();
    }
  }

  private static void pass() {
    Step at = STEPS;
    do {
      at = (Step) NEXT.getOpaque(at);
    } while (at != null);
  }

  /**
   * Has what is due delivered. On JDK 17 this enters the VM, for some ten nanoseconds: the
   * allocation of an array of arrays always does, and it costs 16 bytes.
   *
   * @throws InternalError if this thread has touched memory that is gone
   */
  public static void take() {
    if (POLLED) {
      pass();
    } else {
      byte[][] empty = new byte[none][none];
      none = empty.length;
    }
  }

  /** Takes what is due from before, to know that what comes is new. */
  public static void clear() {
    try {
      take();
    } catch (InternalError e) {
      // Known now, and gone.
    }
  }
}

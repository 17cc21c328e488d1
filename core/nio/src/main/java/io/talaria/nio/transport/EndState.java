// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How one stream ends, by TCP's rules, for all transports: what is known of it, and what that means
 * to reads and writes. A transport tells it the facts; they only add up, so nothing is forgotten.
 *
 * <table>
 * <caption>What reads and writes find</caption>
 * <tr><th>known</th><th>reads, after all that has come</th><th>writes</th></tr>
 * <tr><td>the peer's output is finished</td><td>END</td><td>continue</td></tr>
 * <tr><td>the peer's output is aborted</td><td>RESET, or END after a write's</td><td>RESET, then BROKEN</td></tr>
 * <tr><td>the peer reads no more, or no reader is left</td><td>continue</td><td>one is taken, then BROKEN</td></tr>
 * <tr><td>the peer reads no more, and has left bytes of ours unread</td><td>continue</td><td>RESET, then BROKEN</td></tr>
 * <tr><td>the control connection has ended</td><td>END</td><td>one is taken, then BROKEN</td></tr>
 * <tr><td>it was reset, or bytes of ours were left unread</td><td>RESET, or END after a write's</td><td>RESET, then BROKEN</td></tr>
 * <tr><td>our output has ended</td><td>continue</td><td>BROKEN</td></tr>
 * <tr><td>the stream has failed</td><td>RESET</td><td>BROKEN</td></tr>
 * </table>
 *
 * <p>A reset is an error that TCP reports once, to the call that meets it first. A write that does
 * leaves END to reads; a read that does leaves BROKEN to writes, and says RESET for good, as the
 * JDK's channels do. After the peer's output is finished no call reports a reset: writes are
 * BROKEN, reads END.
 *
 * <p>What the peer has said of its output stands before how the control connection ended. An end
 * that a read has reported stays.
 *
 * <p>Facts may be told by any thread; {@link #writeToNobody} is the writer's.
 */
public final class EndState {
  private static final int PEER_FINISHED = 1;
  private static final int PEER_ABORTED = 1 << 1;
  private static final int PEER_READS_NO_MORE = 1 << 2;
  private static final int CONTROL_ENDED = 1 << 3;
  private static final int OUTPUT_LOST = 1 << 4;
  private static final int OUTPUT_ENDED = 1 << 5;
  private static final int RESET = 1 << 6;
  private static final int FAILED = 1 << 7;
  private static final int PEER_LEFT_OURS = 1 << 8;

  /** A read or a write has been told of the reset. */
  private static final int RESET_TOLD = 1 << 9;

  private static final int CONTROL_RESET = CONTROL_ENDED | RESET;
  private static final int PEER_ENDED = PEER_FINISHED | PEER_ABORTED;
  private static final int ENDED = CONTROL_ENDED | FAILED;

  /** With any of them not even one write is taken that no reader gets. */
  private static final int BREAKS = OUTPUT_ENDED | RESET | FAILED | PEER_ABORTED | PEER_LEFT_OURS;

  private static final int NO_READER = PEER_READS_NO_MORE | PEER_ABORTED | OUTPUT_LOST | ENDED;

  private static final VarHandle FACTS;

  static {
    try {
      FACTS = MethodHandles.lookup().findVarHandle(EndState.class, "facts", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** What is known: bits that are only ever set. One word, so that a write looks at one. */
  private volatile int facts;

  /** What reads have reported: 0, END or RESET. */
  private volatile int reported;

  private boolean wroteToNobody;

  /** A stream that has not ended in any way. */
  public EndState() {}

  // ---- facts

  /** The peer has said that its output is finished; the first word counts. */
  public void peerFinished() {
    peerEnded(PEER_FINISHED);
  }

  /** The peer has said that its output ends with a reset; the first word counts. */
  public void peerAborted() {
    peerEnded(PEER_ABORTED);
  }

  private void peerEnded(int how) {
    int known = facts;
    while ((known & PEER_ENDED) == 0 && !FACTS.compareAndSet(this, known, known | how)) {
      known = facts;
    }
  }

  private void note(int bits) {
    int unused = (int) FACTS.getAndBitwiseOr(this, bits);
  }

  /**
   * The peer has said that it no longer reads. It may say so again, once it leaves bytes unread.
   *
   * @param leftOurs whether it has left bytes of ours unread, for which TCP would have sent a reset
   */
  public void peerReadsNoMore(boolean leftOurs) {
    note(leftOurs ? PEER_READS_NO_MORE | PEER_LEFT_OURS : PEER_READS_NO_MORE);
  }

  /**
   * The control connection has ended; the first word counts.
   *
   * @param byReset whether by a reset
   * @param leftOurs whether the peer has left bytes of ours unread
   * @return whether that is a reset, unless the peer has said how it ends
   */
  public boolean controlEnded(boolean byReset, boolean leftOurs) {
    if (!ended()) {
      boolean reset = byReset || (leftOurs && (facts & OUTPUT_LOST) == 0);
      note(CONTROL_ENDED | (reset ? RESET : 0));
    }
    return wasReset();
  }

  /**
   * The peer no longer reads our output, while the control connection may still bring bytes.
   *
   * @param leftOurs whether the peer has left bytes of ours unread
   */
  public void outputLost(boolean leftOurs) {
    if ((facts & (ENDED | OUTPUT_LOST)) == 0) {
      note(OUTPUT_LOST | (leftOurs ? RESET : 0));
    }
  }

  /** Our output ends, or has ended. */
  public void outputEnded() {
    note(OUTPUT_ENDED);
  }

  /** The peer has broken the rules, the memory is gone, or the stream is released. */
  public void fail() {
    note(FAILED);
  }

  // ---- what follows

  /** Whether nothing comes any more but what is here. */
  public boolean ended() {
    return (facts & ENDED) != 0;
  }

  /** Whether the peer has said how its output ends. */
  public boolean peerEnded() {
    return (facts & PEER_ENDED) != 0;
  }

  /** Whether this side's output has been ended, or is being. */
  public boolean ownOutputEnded() {
    return (facts & OUTPUT_ENDED) != 0;
  }

  /** Whether what is written now can reach no reader, as far as this side knows. */
  public boolean nobodyReads() {
    return (facts & (OUTPUT_ENDED | NO_READER)) != 0;
  }

  /** Whether what was written, and has not arrived, can reach no reader. */
  public boolean noReaderLeft() {
    return (facts & NO_READER) != 0;
  }

  /** Whether reading ends with a reset, unless the peer has said how its output ends. */
  public boolean wasReset() {
    return (facts & (RESET | FAILED)) != 0;
  }

  /**
   * What to do with bytes that reach no reader. Writer.
   *
   * @return {@link TransportStream#RESET} if this write is the first to meet a reset, {@link
   *     TransportStream#BROKEN}, or 0 if TCP would take them, which it does once
   */
  public int writeToNobody() {
    int known = facts;
    if (wroteToNobody || (known & BREAKS) != 0) {
      return resetFor(known) && tellReset() ? TransportStream.RESET : TransportStream.BROKEN;
    }
    wroteToNobody = true;
    return 0;
  }

  /** Whether TCP would report a reset to a write: not while there may be more to read. */
  private static boolean resetFor(int known) {
    boolean reset =
        (known & (PEER_ABORTED | PEER_LEFT_OURS)) != 0 || (known & CONTROL_RESET) == CONTROL_RESET;
    return reset && (known & (OUTPUT_ENDED | PEER_FINISHED | FAILED)) == 0;
  }

  /** Takes it on to tell of the reset; true for one caller. */
  private boolean tellReset() {
    return ((int) FACTS.getAndBitwiseOr(this, RESET_TOLD) & RESET_TOLD) == 0;
  }

  /** What reads have reported: 0, {@link TransportStream#END} or {@link TransportStream#RESET}. */
  public int reported() {
    return reported;
  }

  /**
   * What it means that nothing is there to read.
   *
   * @param allHasCome whether all is here that stood before the end of which the peer has said
   * @return 0 for nothing yet; else {@link TransportStream#END} or {@link TransportStream#RESET},
   *     for good
   */
  public int report(boolean allHasCome) {
    if (reported == 0) {
      int known = facts;
      if ((known & FAILED) != 0) {
        reported = TransportStream.RESET;
      } else if ((known & PEER_ENDED) != 0 && allHasCome) {
        reported = (known & PEER_ABORTED) != 0 ? reset() : TransportStream.END;
      } else if ((known & CONTROL_ENDED) != 0) { // what the peer had still to send is lost
        reported = (known & (RESET | PEER_ENDED)) != 0 ? reset() : TransportStream.END;
      }
    }
    return reported;
  }

  private int reset() {
    return tellReset() ? TransportStream.RESET : TransportStream.END;
  }
}

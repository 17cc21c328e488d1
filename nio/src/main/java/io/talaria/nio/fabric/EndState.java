// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fabric;

/**
 * How one stream ends, by TCP's rules, for all fabrics: what is known of it, and what that means to
 * whoever reads or writes. A fabric tells it the facts; they only add up, so nothing is forgotten.
 *
 * <table>
 * <caption>What reads and writes find</caption>
 * <tr><th>known</th><th>reads, after all that has come</th><th>writes</th></tr>
 * <tr><td>the peer's output is finished</td><td>END</td><td>go on</td></tr>
 * <tr><td>the peer's output is aborted</td><td>RESET</td><td>BROKEN</td></tr>
 * <tr><td>the peer reads no more, or nobody does</td><td>go on</td><td>one is taken, then BROKEN</td></tr>
 * <tr><td>the control connection has ended</td><td>END</td><td>one is taken, then BROKEN</td></tr>
 * <tr><td>it was reset, or bytes of ours were left unread</td><td>RESET</td><td>BROKEN</td></tr>
 * <tr><td>our output has ended</td><td>go on</td><td>BROKEN</td></tr>
 * <tr><td>the stream has failed</td><td>RESET</td><td>BROKEN</td></tr>
 * </table>
 *
 * <p>What the peer has said of its output stands before how the control connection ended. An end
 * that a read has reported stays.
 *
 * <p>Facts may be told by any thread; {@link #writeToNobody} is the writer's.
 */
public final class EndState {
  private volatile boolean peerFinished;
  private volatile boolean peerAborted;
  private volatile boolean controlEnded;
  private volatile boolean peerReadsNoMore;
  private volatile boolean outputLost;
  private volatile boolean outputEnded;
  private volatile boolean reset;
  private volatile boolean failed;

  /** What reads have reported: 0, END or RESET. */
  private volatile int reported;

  private boolean wroteToNobody;

  /** A stream that has not ended in any way. */
  public EndState() {}

  // ---- facts

  /** The peer has said that its output is finished; the first word counts. */
  public void peerFinished() {
    if (!peerAborted) {
      peerFinished = true;
    }
  }

  /** The peer has said that its output ends with a reset; the first word counts. */
  public void peerAborted() {
    if (!peerFinished) {
      peerAborted = true;
    }
  }

  /** The peer has said that it reads no more. */
  public void peerReadsNoMore() {
    peerReadsNoMore = true;
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
      if (byReset || (leftOurs && !outputLost)) {
        reset = true;
      }
      controlEnded = true;
    }
    return wasReset();
  }

  /**
   * Nobody reads our output any more, while the control connection may still bring bytes.
   *
   * @param leftOurs whether the peer has left bytes of ours unread
   */
  public void outputLost(boolean leftOurs) {
    if (!ended() && !outputLost) {
      if (leftOurs) {
        reset = true;
      }
      outputLost = true;
    }
  }

  /** Our output ends, or has ended. */
  public void outputEnded() {
    outputEnded = true;
  }

  /** The peer has broken the rules, the memory is gone, or the stream is released. */
  public void fail() {
    failed = true;
  }

  // ---- what follows

  /** Whether nothing comes any more but what is here. */
  public boolean ended() {
    return controlEnded || failed;
  }

  /** Whether the peer has said how its output ends. */
  public boolean peerEnded() {
    return peerFinished || peerAborted;
  }

  /** Whether this side's output has been ended, or is being. */
  public boolean ownOutputEnded() {
    return outputEnded;
  }

  /** Whether what is written now can reach nobody, as far as this side knows. */
  public boolean nobodyReads() {
    return outputEnded || noReaderLeft();
  }

  /** Whether what was written, and has not arrived, can reach nobody. */
  public boolean noReaderLeft() {
    return peerReadsNoMore || outputLost || controlEnded || failed;
  }

  /** Whether reading ends with a reset, unless the peer has said how its output ends. */
  public boolean wasReset() {
    return reset || failed;
  }

  /**
   * What to do with bytes that reach nobody. Writer.
   *
   * @return {@link FabricStream#BROKEN}, or 0 if TCP would take them, which it does once
   */
  public int writeToNobody() {
    if (wroteToNobody || outputEnded || reset || failed || peerAborted) {
      return FabricStream.BROKEN;
    }
    wroteToNobody = true;
    return 0;
  }

  /** What reads have reported: 0, {@link FabricStream#END} or {@link FabricStream#RESET}. */
  public int reported() {
    return reported;
  }

  /**
   * What it means that nothing is there to read.
   *
   * @param allHasCome whether all is here that stood before the end of which the peer has said
   * @return 0 for nothing yet; else {@link FabricStream#END} or {@link FabricStream#RESET}, for
   *     good
   */
  public int report(boolean allHasCome) {
    if (reported == 0) {
      if (failed) {
        reported = FabricStream.RESET;
      } else if (peerEnded() && allHasCome) {
        reported = peerAborted ? FabricStream.RESET : FabricStream.END;
      } else if (controlEnded) { // what the peer had still to send is lost
        reported = reset || peerEnded() ? FabricStream.RESET : FabricStream.END;
      }
    }
    return reported;
  }
}

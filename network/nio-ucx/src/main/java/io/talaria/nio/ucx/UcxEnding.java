// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.transport.EndState;

/**
 * How one stream ends, here and at the peer, and when it is over: it hears how its output, its
 * input, the control connection and the peer end, and says so to {@link EndState}, to the peer and
 * to the threads that wait. The stream is over once neither side uses it; then its ways may close.
 * An engine's; methods enter the engine unless they say that it is entered.
 */
final class UcxEnding {
  /** How long the end of an unreachable peer may take to be heard. */
  private static final long UNREACHABLE_NS = 1_000_000_000L;

  private final UcxStream stream;
  private final Engine engine;
  private final UcxOutput output;
  private final UcxInput input;
  private final UcxWaits waits;
  private final EndState ends;

  /** Whether this side has said how its output ends. */
  private boolean outputEnded;

  /** Whether the peer has been told that its bytes are left unread. */
  private boolean leftUnreadTold;

  /** Not null once the control connection has ended. */
  private LastWords lastWords;

  /** Whether bytes of ours were under way then: a peer that had ended by then has not read them. */
  private boolean wasSending;

  /** Whether the peer's last bytes may come yet. Any thread reads it. */
  private volatile boolean expectsMore;

  /** The control connection has ended with the peer's output alone. Any thread reads it. */
  private volatile boolean peerOutputEnded;

  /** UCX could not send a small message while the control connection stood. */
  private boolean unreachable;

  private long unreachableSinceNs;

  private boolean breached;
  private boolean releasedHere;
  private boolean releasedThere;

  /** The peer has been told that this side no longer uses it. */
  private boolean releaseTold;

  /** Its place has been given up. */
  private boolean left;

  UcxEnding(
      UcxStream stream,
      Engine engine,
      UcxOutput output,
      UcxInput input,
      UcxWaits waits,
      EndState ends) {
    this.stream = stream;
    this.engine = engine;
    this.output = output;
    this.input = input;
    this.waits = waits;
    this.ends = ends;
  }

  // ---- this side

  /** Ends the output, by FINISHED or ABORTED; the first word counts. */
  void endOutput(int how) {
    engine.enter();
    try {
      if (!outputEnded && !releasedHere) {
        ends.outputEnded();
        stream.note(how, output.written());
        outputEnded = true; // not before: if memory is short, the close says it again
        waits.publish();
      }
    } finally {
      engine.exit();
    }
  }

  /** As {@link io.talaria.nio.transport.TransportStream#abandonInput}. */
  void abandonInput(boolean leftUnread) {
    engine.enter();
    try {
      engine.turn();
      boolean first = input.close();
      boolean news = leftUnread && !leftUnreadTold;
      if ((first || news) && !releasedHere) {
        leftUnreadTold = leftUnread;
        stream.note(
            UcxMessages.IN_CLOSED, leftUnread ? UcxMessages.LEFT_UNREAD : UcxMessages.LEFT_NONE);
      }
    } finally {
      engine.exit();
    }
  }

  /** As {@link io.talaria.nio.transport.TransportStream#flushed}. */
  boolean flushed() {
    engine.enter();
    try {
      if (!output.idle()) {
        engine.turn();
      }
      // What is under way to other peers, which may be stopped, is no concern of this stream's.
      Pipe out = stream.pipe();
      return ends.noReaderLeft() || (output.idle() && (out == null || !out.sending()));
    } finally {
      engine.exit();
    }
  }

  /** It cannot be used any more. */
  void fail() {
    engine.enter();
    try {
      ends.fail();
      waits.news();
    } finally {
      engine.exit();
    }
  }

  /** No thread has used it, and nothing was made. */
  void cancel() {
    engine.enter();
    try {
      releasedHere = true;
      releasedThere = true;
      releaseTold = true; // it knows, or is gone
      if (stream.peer().gone()) {
        expose();
      }
      lookWhetherOver();
    } finally {
      engine.exit();
    }
  }

  /**
   * The last call; the peer is told as soon as UCX is done with all that was sent: then it may
   * close the way without caring for us.
   */
  void release() {
    engine.enter();
    try {
      waits.release();
      releasedHere = true;
      ends.fail(); // for threads that come late
      ends.report(false);
      input.release();
      output.dropFilling();
      waits.publish();
      lookWhetherOver();
      lookWhetherSent();
    } finally {
      engine.exit();
    }
  }

  /** UCX may be done with all that was sent; the engine is entered. */
  void lookWhetherSent() {
    assert engine.entered();
    Pipe out = stream.pipe();
    if (releasedHere && !releaseTold && (out == null || !out.sending())) {
      releaseTold = true;
      stream.tellLater(UcxMessages.RELEASED);
    }
  }

  // ---- the control connection

  /** As {@link io.talaria.nio.transport.TransportStream#controlEnded}. */
  boolean controlEnded(boolean byReset) {
    engine.enter();
    try {
      engine.turnUntilQuiet(); // what the peer sent before stands before
      boolean first = lastWords == null;
      if (first) {
        lastWords = new LastWords(byReset);
        wasSending = output.written() > 0 && output.sending(); // not the first word alone
      }
      if (!heardOut() && first) {
        engine.expecting(stream);
      }
      return ends.wasReset();
    } finally {
      engine.exit();
    }
  }

  /**
   * As {@link io.talaria.nio.transport.TransportStream#expectsMore}. Any thread, without the
   * engine.
   */
  boolean expectsMore() {
    return expectsMore;
  }

  /**
   * The control connection has ended: looks whether what the peer has sent last has come by the
   * transport, or is given up, and ends the stream then.
   */
  private boolean heardOut() {
    boolean gone = stream.peer().gone();
    boolean told = ends.ended() || input.allHasCome() || !mayComeYet();
    boolean heard = told || lastWords.over(gone);
    boolean expectedMore = expectsMore;
    if (heard) {
      peerOutputEnded = peerEndsOnTcp();
    }
    expectsMore = !heard;
    if (peerOutputEnded) {
      wasSending = false; // it reads on
      if (expectedMore) {
        stream.wakeOwner(); // that is no news of the transport's
      }
    } else if (heard) {
      boolean lost = !told && !gone && hasToTell();
      endWithControl(lastWords.byReset() || lost);
    }
    return heard;
  }

  /**
   * Whether FIN means the end of the peer's output alone: of a peer that has ended it before it
   * knew that the connection switches. That it is gone for good is told by RELEASED then, or by the
   * end of the session.
   */
  private boolean peerEndsOnTcp() {
    return !ends.ended()
        && !lastWords.byReset()
        && !stream.peerHasSwitched()
        && stream.agreement().peerEndsOnTcp()
        && !stream.peer().gone();
  }

  /** As {@link io.talaria.nio.transport.TransportStream#outputGoesOn}. Any thread. */
  boolean outputGoesOn() {
    return peerOutputEnded && !ends.noReaderLeft();
  }

  /**
   * Whether what the peer has sent may come after the end of the control connection. On one host it
   * is in UCX's queue by then, but may stand behind what another sender, which has been stopped for
   * a moment, has not written to its end. The peer's switch may be among it.
   */
  private boolean mayComeYet() {
    return (stream.peerHasSwitched() || stream.agreement().peerMaySwitch())
        && (!lastWords.byReset() || stream.peer().betweenHosts());
  }

  /**
   * Whether a peer that lives says by UCX how its output ends: if that has not come, neither have
   * all of its bytes, perhaps.
   */
  private boolean hasToTell() {
    return stream.peerHasSwitched() || stream.agreement().peerSwitches();
  }

  /** As {@link io.talaria.nio.transport.TransportStream#outputLost}. */
  void outputLost() {
    engine.enter();
    try {
      engine.turnUntilQuiet();
      ends.outputLost(!ends.peerEnded() && output.leftUnread());
      output.dropFilling();
      waits.news();
    } finally {
      engine.exit();
    }
  }

  private void endWithControl(boolean byReset) {
    if (!ends.ended()) {
      boolean leftOurs = !ends.peerEnded() && (wasSending || output.leftUnread());
      ends.controlEnded(byReset, leftOurs);
      output.dropFilling();
      waits.news();
    }
  }

  /**
   * UCX could not send a small message, for which the peer may wait. If the peer has ended, how is
   * still to be heard; if it is just not reached, the connection is reset. The engine is entered.
   */
  void noteFailed() {
    assert engine.entered();
    if (!unreachable && lastWords == null && !ends.ended()) {
      unreachableSinceNs = System.nanoTime();
      engine.expecting(stream);
      unreachable = true;
    }
  }

  /** Resets a peer that lives and cannot be reached, in time. */
  private boolean heardOfUnreachable() {
    if (ends.ended() || stream.peer().gone()) {
      return true; // the control connection tells how it has ended
    }
    if (System.nanoTime() - unreachableSinceNs < UNREACHABLE_NS) {
      return false;
    }
    output.failed();
    return true;
  }

  /**
   * Looks again, after {@link #controlEnded} or {@link #noteFailed}; the engine is entered.
   *
   * @return whether that was the last time; so it is if the stream is released
   */
  boolean pollLastWords() {
    assert engine.entered();
    return lastWords == null ? heardOfUnreachable() : heardOut();
  }

  // ---- the peer

  /**
   * The peer has done what no honest one does: nothing of it is believed any more; the engine is
   * entered.
   */
  void breach(String what) {
    breach(what, null);
  }

  /**
   * Bytes of the peer's could not be taken over; the engine is entered. The text is a constant:
   * memory may be short.
   */
  void lost(Throwable cause) {
    breach("what it has sent could not be taken over, and its connection is reset", cause);
  }

  /** Fails before it does anything that needs memory. */
  private void breach(String what, Throwable cause) {
    assert engine.entered();
    if (!breached) {
      breached = true;
      ends.fail();
      output.dropFilling();
      waits.news();
      stream.peer().complain(what, cause);
    }
  }

  /** Whether nothing of the peer is taken any more; the engine is entered. */
  boolean breached() {
    return breached;
  }

  /** The peer neither sends nor reads any more. */
  void peerReleased() {
    engine.enter();
    try {
      releasedThere = true;
      ends.peerReadsNoMore(false);
      waits.news();
      lookWhetherOver();
    } finally {
      engine.exit();
    }
    if (stream.owner() != null) {
      stream.owner().released();
    }
  }

  /** The session has ended; the control connection will tell what became of the peer. */
  void peerGone() {
    engine.enter();
    try {
      if (!releasedThere) {
        releasedThere = true;
        expose();
      }
      if (peerOutputEnded) {
        heardOut(); // it was the end of the connection
      }
      lookWhetherOver();
      Pipe out = stream.pipe();
      if (out != null) {
        out.peerGone();
      }
      Pipe in = stream.comesBy();
      if (in != null && in != out) {
        in.peerGone();
      }
    } finally {
      engine.exit();
    }
  }

  /** The peer has not said that it no longer needs this side's worker, and never will. */
  private void expose() {
    if (!stream.peer().betweenHosts()) { // processes of another host do not map its memory
      engine.exposedTo(stream.peer().process());
    }
  }

  // ---- both

  /** Whether neither side uses it any more; the engine is entered. */
  boolean over() {
    return releasedHere && releasedThere;
  }

  /** Gives up its places and ways if it is over; the engine is entered. */
  void lookWhetherOver() {
    assert engine.entered();
    if (over()) {
      Pipe out = stream.pipe();
      if (!left) {
        left = true;
        engine.streams().remove(stream);
        if (out == null) {
          stream.gone();
        }
      }
      if (out != null) {
        out.lookWhetherOver();
      }
      Pipe in = stream.comesBy();
      if (in != null && in != out) {
        in.lookWhetherOver();
      }
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

/**
 * Who gives way, for one pair of nodes, at one of them: what a HELLO from the other gets, as a
 * function of what was said and heard so far. For one thread; no clock, no sockets, so that a test
 * can try all orders of frames.
 *
 * <p>Each connection of a pair has a number, above what both had heard of and what was promised
 * before. A HELLO says the largest that its sender has had: who was promised one, and has not got
 * it yet, has lost nothing.
 */
public final class Pairing {
  /** What to do with a HELLO. */
  public enum Verdict {
    /** Answer WELCOME with {@link #nextNumber}; drop the own dial, if there is one. */
    ACCEPT,
    /** The same, but first the connection there is ends: the other side has lost it. */
    REPLACE,
    /** Refuse: the own dial, which has said HELLO, goes on. */
    REFUSE_OWN_DIAL,
    /** Refuse: it was sent before the connection there is. */
    REFUSE_LATE,
    /** Another process has this id: ask the connection there is whether it lives. */
    ASK
  }

  private final int own;
  private final int other;
  private int heard;
  private int promised;
  private boolean saidHello;
  private int connected;
  private long incarnation;

  /** Nothing was said yet. */
  public Pairing(int own, int other) {
    this.own = own;
    this.other = other;
  }

  /** The largest number of a connection that was there; what a HELLO says. */
  public int heard() {
    return heard;
  }

  /** The own dial has said HELLO. */
  public void saidHello() {
    saidHello = true;
  }

  /** The own dial is over, whatever came of it. */
  public void dialEnded() {
    saidHello = false;
  }

  /** Whether there is a connection. */
  public boolean isConnected() {
    return connected != 0;
  }

  /** The connection has ended. */
  public void ended(int number) {
    if (connected == number) {
      connected = 0;
    }
  }

  /**
   * What a HELLO gets.
   *
   * @param from the incarnation of who says it
   * @param heardThere the number in it
   */
  public Verdict onHello(long from, int heardThere) {
    if (connected != 0) {
      if (from != incarnation) {
        return Verdict.ASK;
      }
      return heardThere >= connected ? Verdict.REPLACE : Verdict.REFUSE_LATE;
    }
    if (saidHello && own < other) {
      return Verdict.REFUSE_OWN_DIAL;
    }
    return Verdict.ACCEPT;
  }

  /** The number of a connection that is accepted now. */
  public int nextNumber(int heardThere) {
    promised = Math.max(Math.max(heard, promised), heardThere) + 1;
    return promised;
  }

  /**
   * There is a connection. False if it is not to be: there is one with a greater number.
   *
   * @param number its number
   * @param with the other's incarnation
   */
  public boolean established(int number, long with) {
    heard = Math.max(heard, number);
    if (connected != 0 && connected >= number) {
      return false;
    }
    connected = number;
    incarnation = with;
    saidHello = false;
    return true;
  }
}

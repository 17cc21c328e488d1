// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

/**
 * Decides, at one of two nodes, which connection of the pair survives when both dial or one has
 * lost its connection. The response to a HELLO is a function of what the two have sent so far. For
 * one thread; uses no clock and no sockets, so that a test can try all orders of frames.
 *
 * <p>Each connection of a pair has a number, larger than all numbers that both ends had seen or
 * promised before. A HELLO contains the largest number of a connection that its sender has made. A
 * number that was only promised does not count: its connection is not lost, but still to be made.
 */
public final class Pairing {
  /** What to do with a HELLO. */
  public enum Verdict {
    /** Respond with WELCOME and {@link #nextNumber}; give up the own dial, if there is one. */
    ACCEPT,
    /** Like ACCEPT, but first end the existing connection, which the other side has lost. */
    REPLACE,
    /** Refuse it: the own dial has sent HELLO and continues. */
    REFUSE_OWN_DIAL,
    /** Refuse it: it was sent before the existing connection was made. */
    REFUSE_LATE,
    /** Another process has this id: check whether the existing connection is still alive. */
    ASK
  }

  private final int own;
  private final int other;
  private int heard;
  private int promised;
  private boolean saidHello;
  private int connected;
  private long incarnation;

  /**
   * Creates the state of a pair that has exchanged nothing.
   *
   * @param own id of this node
   * @param other id of the other node
   */
  public Pairing(int own, int other) {
    this.own = own;
    this.other = other;
  }

  /** The largest number of a connection that was made; goes into a HELLO. */
  public int heard() {
    return heard;
  }

  /** Call when the own dial has sent HELLO. */
  public void saidHello() {
    saidHello = true;
  }

  /** Call when the own dial has ended, whatever its result. */
  public void dialEnded() {
    saidHello = false;
  }

  /** Whether there is a connection. */
  public boolean isConnected() {
    return connected != 0;
  }

  /** Call when a connection has ended. */
  public void ended(int number) {
    if (connected == number) {
      connected = 0;
    }
  }

  /**
   * Decides what to do with a HELLO.
   *
   * @param from the sender's incarnation
   * @param heardThere the number in the HELLO
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

  /**
   * Promises a number for the connection that is accepted now.
   *
   * @param heardThere the number in the HELLO
   */
  public int nextNumber(int heardThere) {
    promised = Math.max(Math.max(heard, promised), heardThere) + 1;
    return promised;
  }

  /**
   * Call when a connection was made. Returns false if it must be closed, because one with a larger
   * number exists.
   *
   * @param number its number
   * @param with the other node's incarnation
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

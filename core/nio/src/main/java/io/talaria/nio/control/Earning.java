// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

/**
 * What TCP has carried of a client connection that has yet to earn its upgrade: counts the reads
 * and the writes that moved bytes, and begins the search when there are enough of them, once.
 *
 * <p>Each count has one writer at a time: the holder of the read lock, and the holder of the out
 * lock. Both are volatile, so that of a reader and a writer that count at the same time at least
 * one sees both counts: the search begins with the last message that it takes, and never later.
 * Where both see enough, the monitor lets one of them begin.
 */
public final class Earning {
  private final int after;
  private final Runnable search;

  /** Written under the read lock. */
  private volatile int reads;

  /** Written under the out lock. */
  private volatile int writes;

  /** Never false again. Changed under the monitor. */
  private volatile boolean earned;

  /**
   * @param after how many reads and writes it takes, at least one
   * @param search begins the search; must neither block nor throw, since a read or a write is under
   *     way
   */
  public Earning(int after, Runnable search) {
    this.after = after;
    this.search = search;
  }

  /**
   * A read has taken bytes from TCP. Under the read lock.
   *
   * @return whether reads need not be counted any more
   */
  boolean read() {
    int count = reads + 1;
    reads = count;
    return beginIfEnough();
  }

  /**
   * A write has put bytes on TCP. Under the out lock.
   *
   * @return whether writes need not be counted any more
   */
  boolean written() {
    int count = writes + 1;
    writes = count;
    return beginIfEnough();
  }

  /** Whether the search has begun. Any thread. */
  public boolean earned() {
    return earned;
  }

  private boolean beginIfEnough() {
    if (earned) {
      return true;
    }
    if (reads + writes < after) {
      return false;
    }
    if (takeOn()) {
      search.run();
    }
    return true;
  }

  private synchronized boolean takeOn() {
    boolean first = !earned;
    earned = true;
    return first;
  }

  /** What those who watch are shown meanwhile. */
  @Override
  public String toString() {
    return "upgrade after " + after + (after == 1 ? " read or write" : " reads and writes");
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

/**
 * Measures how late this process gets a processor, all the time: a thread that sleeps for a moment
 * again and again notes by how much it woke too late. Limits that grow with it tell a lost wake-up
 * from a busy machine. Any thread may ask.
 */
public final class SchedulingDelay {
  private static final long NAP_MS = 5;
  private static final long SLOT_NS = 500_000_000L;
  private static final int SLOTS = 128;

  /** What a request may meet on its way: threads of either process that wait for a processor. */
  private static final int HOPS = 20;

  private final long[] slot = new long[SLOTS];
  private final long[] worst = new long[SLOTS];
  private long lastNs = System.nanoTime();

  /** Starts to measure, for as long as the process lives. */
  public SchedulingDelay() {
    Console.daemon("scheduling-delay", this::measure);
  }

  private void measure() throws InterruptedException {
    while (true) {
      Thread.sleep(NAP_MS);
      note(System.nanoTime());
    }
  }

  private synchronized void note(long nowNs) {
    long lateNs = Math.max(0, nowNs - lastNs - NAP_MS * 1_000_000);
    // A long stop belongs to all of the time that it took.
    for (long at = Math.max(lastNs, nowNs - SLOTS * SLOT_NS); at <= nowNs; at += SLOT_NS) {
      put(at, lateNs);
    }
    put(nowNs, lateNs);
    lastNs = nowNs;
  }

  private void put(long atNs, long lateNs) {
    long number = Math.floorDiv(atNs, SLOT_NS);
    int place = (int) Math.floorMod(number, (long) SLOTS);
    if (slot[place] != number) {
      slot[place] = number;
      worst[place] = 0;
    }
    worst[place] = Math.max(worst[place], lateNs);
  }

  /**
   * The longest delay that was seen since a time, the one included that may be under way.
   *
   * @param fromNs by {@link System#nanoTime}, at most a minute ago
   * @return nanoseconds
   */
  public synchronized long worstSinceNs(long fromNs) {
    long now = System.nanoTime();
    long found = Math.max(0, now - lastNs - NAP_MS * 1_000_000);
    long first = Math.floorDiv(fromNs, SLOT_NS);
    for (int i = 0; i < SLOTS; i++) {
      if (slot[i] >= first) {
        found = Math.max(found, worst[i]);
      }
    }
    return found;
  }

  /**
   * How long something may take that began at a time.
   *
   * @param fromNs by {@link System#nanoTime}, at most a minute ago
   * @param usualNs how long on a machine that is free
   * @return nanoseconds, longer by what threads wait for a processor here
   */
  public long limitNs(long fromNs, long usualNs) {
    return usualNs + HOPS * worstSinceNs(fromNs);
  }
}

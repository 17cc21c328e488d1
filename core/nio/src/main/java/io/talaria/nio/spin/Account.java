// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

/**
 * Whether spinning pays: what spins with luck have saved, against how long the spinner has waited
 * for its core because it spun. For one thread.
 *
 * <p>Waiting alone proves nothing. A thread that talks to its peer without sleeping waits for its
 * core now and then wherever others want it, for a time slice of some milliseconds, and has
 * exchanged thousands of messages between two of these waits; asleep it would have exchanged less
 * than a hundred.
 */
final class Account {
  /**
   * What a spin with luck saves: going to sleep and waking up takes a thread some 5 µs of processor
   * time, and its peer must ring. How much sooner it has its bytes, mostly some 20 µs, is not
   * counted: a spinner that gains little must not make the longest waits longer.
   */
  static final long SAVED_NS = 5_000;

  /** No more is kept of good times than covers some time slices of another thread's. */
  static final long MAX_NS = 10_000_000;

  private long balanceNs;

  /**
   * Settles a while.
   *
   * @param lucky how many spins have found something
   * @param spunNs for how long the thread has spun
   * @param ranNs for how long it has run, spinning or not
   * @param waitedNs for how long it could have run, and had no core
   * @return whether spinning pays; if not, the account starts anew
   */
  boolean pays(long lucky, long spunNs, long ranNs, long waitedNs) {
    // Of its waiting, spinning is to blame for the share that it has in what the thread ran.
    long blamedNs = spunNs < ranNs ? (long) ((double) waitedNs * spunNs / ranNs) : waitedNs;
    balanceNs = Math.min(MAX_NS, balanceNs + lucky * SAVED_NS - blamedNs);
    if (balanceNs >= 0) {
      return true;
    }
    balanceNs = 0;
    return false;
  }
}

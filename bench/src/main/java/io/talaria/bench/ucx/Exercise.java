// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/**
 * One operation as both sides do it. A client calls {@link #once} or {@link #many}, a server {@link
 * #follow}, over and over. Confined to the thread of its side.
 */
abstract class Exercise {
  /** How many messages a server takes before it looks for other orders. */
  static final int TURN = 256;

  final Side side;
  final int sizeBytes;

  /** How many operations were done, or seen. */
  private long count;

  Exercise(Side side, int sizeBytes) {
    this.side = side;
    this.sizeBytes = sizeBytes;
  }

  /** Begins, before the other side may send anything. */
  void begin(boolean server) {}

  /** As client: does one, and waits for the answer or until it is done. */
  abstract void once();

  /** As client: does many, several at a time, and waits until all are done. */
  abstract void many(int operations);

  /** As server: does its part for a while. */
  abstract void follow();

  /** Counts operations. */
  final void add(long operations) {
    count += operations;
  }

  /** Returns how many operations were done, or seen. */
  final long count() {
    return count;
  }

  /** As client: returns how many operations the server must see; 0 if it sees none. */
  long expected() {
    return count;
  }
}

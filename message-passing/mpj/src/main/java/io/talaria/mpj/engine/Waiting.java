// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

/**
 * What a rank does before it sleeps while it waits: it spins, and then yields the core, again and
 * again.
 *
 * @param spinNs how long it spins, nanoseconds
 * @param yieldNs how long it yields after that, nanoseconds
 */
public record Waiting(long spinNs, long yieldNs) {
  /** A rank that sleeps at once. */
  public static final Waiting ASLEEP = new Waiting(0, 0);

  private static final long SPIN_NS = 50_000;
  private static final long YIELD_NS = 100_000;

  /**
   * What is best by default. Where ranks are more than cores they do not spin, because who they
   * wait for may need the core; and they yield for longer the more ranks have to run on it before.
   *
   * @param ranks on this host
   * @param cores of it
   */
  static Waiting of(int ranks, int cores) {
    return ranks > cores
        ? new Waiting(0, YIELD_NS * Math.ceilDiv(ranks, cores))
        : new Waiting(SPIN_NS, 0);
  }
}

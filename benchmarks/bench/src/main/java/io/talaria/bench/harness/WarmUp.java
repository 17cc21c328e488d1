// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.util.concurrent.TimeUnit;

/**
 * When a client may begin to measure: its connections have taken the transport they will take, and
 * the code is compiled, here and at the server. Used by one thread of a child JVM.
 *
 * <p>Begins when it is made.
 */
public final class WarmUp {
  private static final long TRANSPORT_LIMIT_NS = TimeUnit.SECONDS.toNanos(10);

  private final long minNs;
  private final long maxNs;
  private final long operations;
  private final int connections;
  private final Compilers compilers = Compilers.ofThePair();
  private final long begin = System.nanoTime();
  private boolean rested;

  /**
   * @param minNs the shortest warm-up
   * @param maxNs the longest; connections that are still on their way may add ten seconds
   * @param operations how many operations there must be before compilers have seen what to compile
   * @param connections how many connections there are
   */
  public WarmUp(long minNs, long maxNs, long operations, int connections) {
    this.minNs = minNs;
    this.maxNs = maxNs;
    this.operations = operations;
    this.connections = connections;
  }

  /**
   * Returns whether all is warm.
   *
   * @param done how many operations there were so far
   */
  public boolean done(long done) {
    long elapsed = System.nanoTime() - begin;
    rested = elapsed >= minNs && done >= operations && compilers.atRest();
    boolean compiled = elapsed >= maxNs || rested;
    return compiled && (settled(connections) || elapsed >= maxNs + TRANSPORT_LIMIT_NS);
  }

  /**
   * Returns whether compilers were at rest when all was last said to be warm; else time had run
   * out.
   */
  public boolean rested() {
    return rested;
  }

  /**
   * Returns whether connections have taken the transport they will take.
   *
   * @param connections how many
   */
  public static boolean settled(int connections) {
    return !TransportProbe.accelerates() || TransportProbe.look().accelerated() >= connections;
  }
}

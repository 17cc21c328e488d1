// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.netty;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.Trial;
import io.talaria.cli.harness.Units;

/**
 * One case of {@code bench netty}.
 *
 * @param pattern what is done
 * @param sizeBytes the length of a message
 * @param connections how many connections
 * @param inFlight how many messages are under way on each connection at once; not one way
 * @param flushEvery after how many messages a connection is flushed; one way only
 * @param eventLoops how many event loops each side has
 */
record NettyTrial(
    NettyPattern pattern,
    int sizeBytes,
    int connections,
    int inFlight,
    int flushEvery,
    int eventLoops)
    implements Trial {

  /**
   * What both sides are told.
   *
   * @param trial what
   * @param timing how long
   */
  record Job(NettyTrial trial, Timing timing) {}

  @Override
  public Job job(Timing timing) {
    return new Job(this, timing);
  }

  @Override
  public String id() {
    return pattern + "/" + sizeBytes + "/" + connections;
  }

  @Override
  public String label() {
    String many = connections == 1 ? "" : ", " + connections + " connections";
    return pattern + " " + Units.bytes(sizeBytes) + many;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

/**
 * One thing to measure with an implementation.
 *
 * @param pattern the pattern
 * @param processes how many processes take part, each connected with all others
 * @param connections how many connections each pair of processes has, a thread each
 * @param sizeBytes the size of a message
 * @param ratePerSecond how many operations each connection begins a second whether or not earlier
 *     ones are done (an open loop); 0: each begins when the one before is done
 * @param operations how many there are at most, in each connection
 */
public record Case(
    Pattern pattern,
    int processes,
    int connections,
    int sizeBytes,
    int ratePerSecond,
    long operations) {

  /** Returns how many connections a process has. */
  public int connectionsOfEach() {
    return (processes - 1) * connections;
  }

  /** Returns how many connections all processes have. */
  public int connectionsOfAll() {
    return processes * connectionsOfEach() / 2;
  }

  /** Returns its name for machines. */
  public String id() {
    return String.join(
        "/",
        pattern.label(),
        sizeBytes + "B",
        processes + "p",
        connections + "c",
        ratePerSecond + "r");
  }

  /** Returns the case in words. */
  public String describe() {
    return pattern.label()
        + (pattern == Pattern.ALL_TO_ALL ? ", " + processes + " processes" : "")
        + ", "
        + sizeBytes
        + " B, "
        + connections
        + (connections == 1 ? " connection" : " connections")
        + (ratePerSecond == 0 ? "" : ", " + ratePerSecond + "/s");
  }
}

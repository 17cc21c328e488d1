// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.plan;

/**
 * One thing to measure with a contender.
 *
 * @param pattern the pattern
 * @param connections how many connections, a thread each
 * @param sizeBytes the size of a message
 * @param ratePerSecond how many operations each connection begins a second whether or not earlier
 *     ones are done (an open loop); 0: each begins when the one before is done
 * @param operations how many there are at most, in each connection
 */
public record Case(
    Pattern pattern, int connections, int sizeBytes, int ratePerSecond, long operations) {
  /** Returns the case in words. */
  public String describe() {
    return pattern.label()
        + ", "
        + sizeBytes
        + " B, "
        + connections
        + (connections == 1 ? " connection" : " connections")
        + (ratePerSecond == 0 ? "" : ", " + ratePerSecond + "/s");
  }
}

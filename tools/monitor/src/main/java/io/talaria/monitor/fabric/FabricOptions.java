// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import java.util.Objects;

/**
 * How a fabric is queried.
 *
 * @param device the channel adapter to send from; empty for the first with an active port
 * @param port its port; 0 for the first active one
 * @param timeoutMs how long a response is waited for, 1 to 60000 milliseconds
 * @param tries how often a query is sent, 1 to 10
 * @param maxHops how many switches away discovery goes; 0 for all of them, at most 63
 * @param queriesPerSecond how many messages of performance queries a second at most, 1 to 100000
 */
public record FabricOptions(
    String device, int port, int timeoutMs, int tries, int maxHops, int queriesPerSecond) {
  /** The first active port, 100 ms, two tries, the whole fabric, 200 queries a second. */
  public static final FabricOptions USUAL = new FabricOptions("", 0, 100, 2, 0, 200);

  /** Checks the ranges. */
  public FabricOptions {
    Objects.requireNonNull(device, "device");
    check("port", port, 0, 254);
    check("timeoutMs", timeoutMs, 1, 60_000);
    check("tries", tries, 1, 10);
    check("maxHops", maxHops, 0, 63);
    check("queriesPerSecond", queriesPerSecond, 1, 100_000);
  }

  private static void check(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " " + value + " is not within " + least + " and " + most);
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import java.time.Duration;
import java.util.Map;

/**
 * What a run of the chaos test is to be like.
 *
 * @param duration how long things happen
 * @param seed chooses what happens
 * @param connections how many are kept open in all
 * @param plain whether the processes use the JDK's sockets: shows that the test is right
 */
public record ChaosPlan(Duration duration, long seed, int connections, boolean plain) {
  private static final String SECONDS = "TALARIA_CHAOS_SECONDS";
  private static final String SEED = "TALARIA_CHAOS_SEED";
  private static final String CONNECTIONS = "TALARIA_CHAOS_CONNECTIONS";
  private static final String SOCKETS = "TALARIA_CHAOS_SOCKETS";

  /**
   * Reads the plan from the environment, which passes through Maven.
   *
   * @return two minutes, 64 connections and any seed, unless the environment says otherwise
   */
  public static ChaosPlan fromEnvironment() {
    Map<String, String> given = System.getenv();
    return new ChaosPlan(
        Duration.ofSeconds(Long.parseLong(given.getOrDefault(SECONDS, "120"))),
        given.containsKey(SEED)
            ? Long.parseLong(given.get(SEED))
            : System.nanoTime() & 0xffff_ffffL,
        Integer.parseInt(given.getOrDefault(CONNECTIONS, "64")),
        given.getOrDefault(SOCKETS, "talaria").equals("jdk"));
  }

  @Override
  public String toString() {
    return String.format(
        "%d s, seed %d, %d connections, %s",
        duration.toSeconds(), seed, connections, plain ? "the JDK's sockets" : "Talaria");
  }
}

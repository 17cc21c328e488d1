// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What has been said of transports that cannot be used, so that the log need not say it again. */
public final class ToldProblems {
  private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

  private ToldProblems() {}

  /**
   * Takes note of what the user has been told.
   *
   * @param problem what {@link TransportProvider#problem} will be
   */
  public static void add(String problem) {
    TOLD.add(problem);
  }

  /** Whether a line says again what the user has been told already. */
  public static boolean isIn(String line) {
    return TOLD.stream().anyMatch(line::contains);
  }

  /** Whether the user has been told already why a transport cannot be used. */
  public static boolean has(String problem) {
    return TOLD.contains(problem);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import io.talaria.nio.counters.ProcessCounters;
import java.util.List;

/** The connections and listeners of this process, for the program itself. */
public final class Connections {
  private Connections() {}

  /**
   * All connections and listeners that are open now, oldest first. Any thread may call it; it does
   * no file work.
   *
   * @return a copy; empty where Talaria is not switched on
   */
  public static List<ConnectionInfo> snapshot() {
    ProcessCounters counters = ProcessCounters.current();
    return counters == null ? List.of() : counters.snapshot();
  }
}

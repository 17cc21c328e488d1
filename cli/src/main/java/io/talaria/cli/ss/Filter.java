// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Mode;
import io.talaria.nio.counters.ProcessInfo;
import java.util.Set;

/**
 * Which processes and connections the user wants to see.
 *
 * @param pids process ids, or empty for all
 * @param modes modes, or empty for all
 */
record Filter(Set<Long> pids, Set<Mode> modes) {
  Filter {
    pids = Set.copyOf(pids);
    modes = Set.copyOf(modes);
  }

  boolean wants(ProcessInfo process) {
    return pids.isEmpty() || pids.contains(process.pid());
  }

  boolean wants(ConnectionInfo connection) {
    return modes.isEmpty() || modes.contains(connection.mode());
  }
}

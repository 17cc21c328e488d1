// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.util.UUID;

/** Whether the process that a counters file speaks of lives. */
public enum Liveness {
  /** It runs. */
  LIVE,
  /** It has ended; its process id is free, or another process's. */
  DEAD,
  /** It is in another pid namespace, where its process id says nothing here. */
  OTHER_NAMESPACE,
  /** It ran on another boot of this machine, or on another machine. */
  OTHER_BOOT;

  /**
   * Judges by what the header says.
   *
   * @throws IOException if /proc cannot be read
   */
  public static Liveness of(long pid, long startTicks, long pidNamespace, UUID bootId)
      throws IOException {
    if (!bootId.equals(ProcFiles.bootId())) {
      return OTHER_BOOT;
    }
    if (pidNamespace != ProcFiles.pidNamespace()) {
      return OTHER_NAMESPACE;
    }
    return ProcFiles.startTicks(pid) == startTicks ? LIVE : DEAD;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.testsupport.ChildProcess;
import java.time.Duration;

/** Names of files that a process left behind. */
public final class EndedProcess {
  private static final int PID_SHIFT = 42;

  private EndedProcess() {}

  /** The digits of a file like one of a live process's, but made by a process that has ended. */
  public static String digitsLike(String live) throws Exception {
    long pid = ChildProcess.command("true").run(Duration.ofSeconds(20)).pid();
    long rest = Long.parseUnsignedLong(live, 16) & ((1L << PID_SHIFT) - 1);
    return String.format("%016x", pid << PID_SHIFT | rest);
  }
}

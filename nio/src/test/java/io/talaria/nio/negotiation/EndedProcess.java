// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.util.concurrent.TimeUnit;

/** Names of files that a process left behind. */
public final class EndedProcess {
  private static final int PID_SHIFT = 42;

  private EndedProcess() {}

  /** The digits of a file like one of a live process's, but made by a process that has ended. */
  public static String digitsLike(String live) throws Exception {
    Process process = new ProcessBuilder("true").start();
    if (!process.waitFor(20, TimeUnit.SECONDS)) {
      throw new AssertionError("true does not end");
    }
    long rest = Long.parseUnsignedLong(live, 16) & ((1L << PID_SHIFT) - 1);
    return String.format("%016x", process.pid() << PID_SHIFT | rest);
  }
}

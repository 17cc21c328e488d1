// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.engine;

import java.io.IOException;
import java.util.List;

/** The measuring JVMs that this process has started. */
final class Jvms {
  private static final String SIDE = "-Dobservatory.side=";

  private Jvms() {}

  /** Returns the option by which a side's JVMs are known. */
  static String option(String side) {
    return SIDE + side;
  }

  /** Returns the process numbers of a side's JVMs. */
  static List<Long> pids(String side) {
    return ProcessHandle.current()
        .children()
        .filter(ProcessHandle::isAlive)
        .filter(
            child ->
                child
                    .info()
                    .arguments()
                    .map(words -> List.of(words).contains(option(side)))
                    .orElse(false))
        .map(ProcessHandle::pid)
        .toList();
  }

  /** Sends a signal to the JVM of a side. */
  static void signal(String side, String signal) {
    try {
      for (long pid : pids(side)) {
        new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor();
      }
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
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
    return of(side).stream().map(ProcessHandle::pid).toList();
  }

  private static List<ProcessHandle> of(String side) {
    return running(option(side));
  }

  /** Returns the children of this process that were started with a word on their command line. */
  static List<ProcessHandle> running(String word) {
    return ProcessHandle.current()
        .children()
        .filter(ProcessHandle::isAlive)
        .filter(
            child ->
                child.info().arguments().map(words -> List.of(words).contains(word)).orElse(false))
        .toList();
  }

  /** Kills the JVMs of a side, and waits until they have gone. */
  static void kill(String side) {
    for (ProcessHandle jvm : of(side)) {
      jvm.destroyForcibly();
      jvm.onExit().join();
    }
  }

  /** Makes the JVMs of a side stand still. */
  static void stop(String side) {
    try {
      for (long pid : pids(side)) {
        ChildProcess unused =
            ChildProcess.command("kill", "-STOP", pid).run(Duration.ofSeconds(50));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Timeout(120)
@EnabledOnOs(OS.LINUX)
class CompilersTest {
  private static final long LONGER_THAN_REST_MS = 500;

  /** A program that does nothing, but for what its JVM does to begin. */
  static final class Idle {
    private Idle() {}

    public static void main(String[] args) throws InterruptedException {
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  @Test
  void aJvmThatCompilesEverythingIsBusyUntilItIsDone() throws Exception {
    Process jvm =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xcomp",
                "-cp",
                System.getProperty("java.class.path").split(File.pathSeparator)[0],
                Idle.class.getName())
            .inheritIO()
            .start();
    try {
      Compilers compilers = new Compilers(List.of(jvm.pid()));
      assertThat(compilers.atRest()).as("at once").isFalse();
      Thread.sleep(LONGER_THAN_REST_MS);
      assertThat(compilers.atRest()).as("while it begins").isFalse();
      while (!compilers.atRest()) {
        Thread.sleep(LONGER_THAN_REST_MS);
      }
      assertThat(jvm.isAlive()).isTrue();
    } finally {
      jvm.destroyForcibly().waitFor();
    }
  }

  @Test
  void whoeverHasEndedIsAtRest() throws Exception {
    Process gone = new ProcessBuilder("true").start();
    gone.waitFor();
    Compilers compilers = new Compilers(List.of(gone.pid()));
    Thread.sleep(LONGER_THAN_REST_MS);
    assertThat(compilers.atRest()).isTrue();
  }

  @Test
  void thePairIsThisProcessAndItsSiblings() throws Exception {
    Process sibling = new ProcessBuilder("sleep", "60").start();
    try {
      assertThat(Compilers.childrenOf(ProcessHandle.current())).contains(sibling.pid());
    } finally {
      sibling.destroyForcibly().waitFor();
    }
  }
}

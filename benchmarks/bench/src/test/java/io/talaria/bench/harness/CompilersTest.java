// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
    try (ChildProcess jvm =
        ChildProcess.jvm(Idle.class)
            .options("-Xcomp")
            .classPath(System.getProperty("java.class.path").split(File.pathSeparator)[0])
            .start()) {
      Compilers compilers;
      boolean restAtOnce;
      long beganNs;
      do { // a look that is late may find them at rest
        beganNs = System.nanoTime();
        compilers = new Compilers(List.of(jvm.pid()));
        restAtOnce = compilers.atRest();
      } while (System.nanoTime() - beganNs > TimeUnit.MILLISECONDS.toNanos(300));
      assertThat(restAtOnce).as("at once").isFalse();
      // Its compilers do nothing while the machine still reads the JVM from its disk.
      awaitRest(compilers, false);
      awaitRest(compilers, true);
      assertThat(jvm.isAlive()).isTrue();
    }
  }

  /** Looks at intervals that can tell, until the compilers are as expected; else the time is up. */
  private static void awaitRest(Compilers compilers, boolean expected) throws InterruptedException {
    do {
      Thread.sleep(LONGER_THAN_REST_MS);
    } while (compilers.atRest() != expected);
  }

  @Test
  void whoeverHasEndedIsAtRest() throws Exception {
    ChildProcess gone = ChildProcess.command("true").runSuccessfully(Duration.ofSeconds(20));
    Compilers compilers = new Compilers(List.of(gone.pid()));
    Thread.sleep(LONGER_THAN_REST_MS);
    assertThat(compilers.atRest()).isTrue();
  }

  @Test
  void thePairIsThisProcessAndItsSiblings() throws Exception {
    try (ChildProcess sibling = ChildProcess.command("sleep", "60").start()) {
      assertThat(Compilers.childrenOf(ProcessHandle.current())).contains(sibling.pid());
    }
  }
}

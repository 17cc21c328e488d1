// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.testsupport.StressRunner;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jcstress.Main;

/** Runs {@link RingStress} and {@link io.talaria.nio.memory.SleepWordStress}. */
@Tag("long")
@Timeout(3600)
class RingStressedTest {
  /** A ring's state that jcstress makes has a place of its own in {@link StressedRing}. */
  private static final int STRIDE = 64;

  private static final int STRIDES = StressedRing.PLACES / STRIDE / 4;

  @TempDir Path dir;
  private StressRunner runner;

  @BeforeEach
  void prepare() {
    runner = new StressRunner(dir, STRIDE, STRIDES, Main.class, RingStress.class, ShmStream.class);
  }

  @Test
  void noInterleavingLosesAWakeUpOrAByte() throws Exception {
    runner.requirePassed(
        "RingStress.(WriteAgainstSleep|ReadAgainstSleep|MoveAgainstRead|ReturnAgainstRead"
            + "|FinishAgainstWrite)|SleepWordStress.Publication.*");
  }

  /** These tests can fail. */
  @Test
  void whatIsLeftOutIsFound() throws Exception {
    runner.requireFailed(
        "RingStress.EndWithoutAsking",
        "SleepWordStress.WithoutFenceOfWaker",
        "SleepWordStress.WithoutFenceOfSleeper",
        "SleepWordStress.SameEpochAgain");
  }
}

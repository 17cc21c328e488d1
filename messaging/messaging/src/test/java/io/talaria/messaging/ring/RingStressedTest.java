// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import io.talaria.testsupport.StressRunner;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jcstress.Main;

/** Runs {@link RingStress} and the mailbox's. */
@Tag("long")
@Timeout(3600)
class RingStressedTest {
  /** Each state that jcstress makes has a ring of its own. */
  private static final int STRIDE = 16;

  private static final int STRIDES = 16;

  @TempDir Path dir;
  private StressRunner runner;

  @BeforeEach
  void prepare() {
    runner =
        new StressRunner(dir, STRIDE, STRIDES, Main.class, RingStress.class, RingProducer.class);
  }

  @Test
  void noInterleavingLosesAWakeUpOrARecord() throws Exception {
    runner.requirePassed(
        "RingStress.(CommitAgainstSleep|HeadAgainstWait|TwoProducers|SealAgainstClaim"
            + "|BytesBeforeLength|GrowthAgainstClaim|GrowthAgainstSleep)|MailboxStress.*");
  }

  /** These tests can fail. */
  @Test
  void whatIsLeftOutIsFound() throws Exception {
    runner.requireFailed("RingStress.WithoutFences");
  }
}

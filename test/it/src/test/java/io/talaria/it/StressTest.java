// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.chaos.StressRun;
import io.talaria.it.harness.Lab;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Programs generated at random, whose threads do at any time what the contract allows: no wake-up
 * is lost. Half a minute; {@code ./talaria chaos --random} runs them at length.
 */
@Tag("transport")
class StressTest {
  @RegisterExtension final Lab lab = new Lab();

  /** Has limits of its own, for each request. */
  @Test
  @Timeout(value = 2, unit = TimeUnit.DAYS)
  void everyRequestIsAnswered() throws Exception {
    StressRun.fromEnvironment(lab).run();
  }

  /** Shows that the programs ask for nothing that the JDK does not give. */
  @Test
  @Tag("long")
  @Timeout(value = 200, unit = TimeUnit.SECONDS)
  void theJdkPassesToo() throws Exception {
    new StressRun(lab, Duration.ofSeconds(1), StressRun.anySeed(), true).run();
  }
}

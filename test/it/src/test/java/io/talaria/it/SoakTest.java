// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.chaos.Soak;
import io.talaria.it.harness.Lab;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Connections come and go, and leave nothing behind. 20,000; {@code ./talaria soak} makes a
 * million.
 */
@Tag("alone")
@Tag("long")
class SoakTest {
  @RegisterExtension final Lab lab = new Lab();

  /** Has a limit of its own, for each part of the way. */
  @Test
  @Timeout(value = 2, unit = TimeUnit.DAYS)
  void whatConnectionsTakeLevelsOff() throws Exception {
    new Soak(lab, Soak.connectsFromEnvironment()).run();
  }
}

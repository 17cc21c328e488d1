// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.chaos.ChaosPlan;
import io.talaria.it.chaos.Storm;
import io.talaria.it.harness.Lab;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Processes are killed, stopped and starved while they talk: no byte is lost, and nobody hangs. Two
 * minutes; {@code ./talaria chaos} runs it at length.
 */
@Tag("alone")
class ChaosTest {
  @RegisterExtension final Lab lab = new Lab();

  /** Has limits of its own, for each connection. */
  @Test
  @Timeout(value = 2, unit = TimeUnit.DAYS)
  void everyConnectionEndsAsItsPeersDo() throws Exception {
    new Storm(lab, ChaosPlan.fromEnvironment()).rage();
  }
}

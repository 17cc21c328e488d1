// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.TalariaProvider;
import io.talaria.testsupport.ChildProcess;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A library that reaches into the JDK's selectors gets one. */
class OldAgronaTest {
  @Test
  void thePollerOfAgrona1Runs() throws Exception {
    ChildProcess child =
        ChildProcess.jvm(OldAgronaMain.class)
            .options(
                "-Djava.nio.channels.spi.SelectorProvider=" + TalariaProvider.class.getName(),
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
            .runSuccessfully(Duration.ofSeconds(60));
    assertThat(child.outText()).isEqualTo("TalariaSelector received 42\n");
  }
}

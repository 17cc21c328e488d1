// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.File;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A program that has JUCX itself keeps it, and the transport uses that very one beside it. */
@Timeout(180)
class OwnUseTest {
  private static final int CONNECTIONS = 200;

  @ParameterizedTest
  @ValueSource(strings = {"1.15.0", "1.18.1"})
  void aProgramAndTheTransportUseOneJucx(String version) throws Exception {
    File jar = new File(System.getProperty("talaria.test.jucx"), "jucx-" + version + ".jar");
    ChildProcess ended =
        new Program(OwnUse.class, "own-" + version)
            .jucx(jar)
            .run(120, Integer.toString(CONNECTIONS));
    assertThat(ended.exitStatus()).as("%s", ended).isZero();
    assertThat(ended.outText())
        .contains("UCX same-host " + CONNECTIONS + " ")
        .containsPattern("standing .*ucx by jucx " + version)
        .doesNotContain("TCP");
  }

  /** It has one that is refused: the transport stays away, and the program goes on with its own. */
  @ParameterizedTest
  @ValueSource(strings = "1.12.1")
  void aProgramsOldJucxStaysItsOwn(String version) throws Exception {
    File jar = new File(System.getProperty("talaria.test.jucx"), "jucx-" + version + ".jar");
    ChildProcess ended = new Program(Churn.class, "old-" + version).jucx(jar).run(120, "1");
    assertThat(ended.exitStatus()).as("%s", ended).isZero();
    assertThat(ended.outText()).contains("TCP no-ucx 1 1\n");
    assertThat(ended.errText()).contains("JUCX 1.12.1 is too old");
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An endpoint that finds no memory for a larger block receives with the one that it has. */
@Timeout(120)
class ShortMemoryTest {
  @Test
  void anEndpointKeepsItsBlockWhereThereIsNoLargerOne() throws Exception {
    ChildProcess ended =
        new Program(ShortMemory.class, "short-memory").option("-XX:MaxDirectMemorySize=4m").run(90);
    assertThat(ended.exitStatus()).as("%s", ended).isZero();
    assertThat(ended.outText()).contains("got " + 1_000L * BlockPool.MIN_BYTES + " ");
  }
}

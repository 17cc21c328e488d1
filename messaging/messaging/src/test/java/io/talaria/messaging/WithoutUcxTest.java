// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Transport ucx where there is no UCX. */
@Timeout(90)
class WithoutUcxTest {
  private static final String NOWHERE = "/nowhere/libucp.so.0";

  @TempDir Path directory;

  @Test
  void aNodeThatHasNoOtherTransportDoesNotStartAndOthersGoWithoutIt() throws Exception {
    ChildProcess process =
        TestJvm.of(WithoutUcxMain.class, 64, NOWHERE, directory)
            .runSuccessfully(Duration.ofSeconds(60));
    assertThat(process.out())
        .satisfiesExactly(
            why ->
                assertThat(why)
                    .startsWith("transport ucx is the only one, and cannot be used: ")
                    .contains(NOWHERE),
            said -> assertThat(said).isEqualTo("7 by shm"));
  }
}

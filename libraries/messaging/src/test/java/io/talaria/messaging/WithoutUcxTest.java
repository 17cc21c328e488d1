// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
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
    Path errors = directory.resolve("errors");
    Process process =
        TestJvm.start(WithoutUcxMain.class, 64, errors, NOWHERE, directory.toString());
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ended by itself").isTrue();
      assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
      assertThat(process.inputReader().lines())
          .satisfiesExactly(
              why ->
                  assertThat(why)
                      .startsWith("transport ucx is the only one, and cannot be used: ")
                      .contains(NOWHERE),
              said -> assertThat(said).isEqualTo("7 by shm"));
    } finally {
      process.destroyForcibly();
    }
  }
}

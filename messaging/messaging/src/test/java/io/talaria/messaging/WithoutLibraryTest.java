// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Transports ucx and verbs where their libraries are not found. */
@Timeout(90)
class WithoutLibraryTest {
  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({"UCX, /nowhere/libucp.so.0", "VERBS, /nowhere/libibverbs.so.1"})
  void aNodeThatHasNoOtherTransportDoesNotStartAndOthersGoWithoutIt(
      Transport transport, String nowhere) throws Exception {
    ChildProcess process =
        TestJvm.of(WithoutLibraryMain.class, 64, transport, directory)
            .options(
                "-Dtalaria.ucx.library=/nowhere/libucp.so.0",
                "-Dtalaria.verbs.library=/nowhere/libibverbs.so.1")
            .runSuccessfully(Duration.ofSeconds(60));
    assertThat(process.out())
        .satisfiesExactly(
            why ->
                assertThat(why)
                    .startsWith(
                        "transport " + transport.code() + " is the only one, and cannot be used: ")
                    .contains(nowhere),
            both ->
                assertThat(both)
                    .startsWith("there is no other transport: verbs cannot be used: ")
                    .contains("; ucx cannot be used: "),
            said -> assertThat(said).isEqualTo("7 by shm"));
  }
}

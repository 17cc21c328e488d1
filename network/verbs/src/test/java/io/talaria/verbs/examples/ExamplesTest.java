// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.verbs.Loopback;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** The examples on the provider in memory; on a device by the row of rdma-test. */
@Timeout(120)
class ExamplesTest {
  @TestFactory
  Stream<DynamicTest> everyExampleFindsWhatItMust() {
    Optional<String> unavailableReason = Loopback.prepare();
    assumeTrue(unavailableReason.isEmpty(), () -> unavailableReason.orElseThrow());
    return Examples.all().entrySet().stream()
        .map(
            example ->
                DynamicTest.dynamicTest(
                    example.getKey(),
                    () ->
                        assertThat(example.getValue().body().run(new Here("")))
                            .isEqualTo(example.getValue().finds())));
  }

  @Test
  void theLauncherKnowsThemAll() throws Exception {
    assertThat(Files.readString(Path.of("..", "..", "tools", "launcher", "run.sh")))
        .contains("  names='" + String.join(" ", Examples.all().keySet()) + "'");
  }
}

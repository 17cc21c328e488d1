// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.ClassPath;
import io.talaria.it.harness.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The script that the emulated machine runs on verbs, here on UCX's shared memory: it reads what
 * {@code ss --json} prints, and nothing else would notice here if a name in it changed.
 */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class RdmaScriptTest {
  @TempDir Path dir;

  @ParameterizedTest
  @ValueSource(strings = {"talk", "stream"})
  void bothEndsAreSeenOnUcx(String program) throws Exception {
    assumeTrue(Settings.ucxInstalled(), "no UCX here");
    Path root = Path.of(System.getProperty("talaria.test.root"));
    Path output = dir.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder("bash", root + "/test/rdma-test/sockets.sh", "posix", program);
    builder.environment().put("CLASSES", ClassPath.programs().toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("UCX_TLS", "posix,self");
    Process script = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertThat(script.waitFor(120, TimeUnit.SECONDS)).as("ended by itself").isTrue();
      assertThat(script.exitValue()).as(Files.readString(output)).isZero();
    } finally {
      script.destroy(); // it ends its JVMs
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.ClassPath;
import io.talaria.it.harness.Settings;
import io.talaria.testsupport.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The script that the emulated machine runs on verbs, here on UCX's shared memory: it reads what
 * {@code ss --json} prints, and nothing else would notice here if a name in it changed.
 */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class RdmaScriptTest {
  @ParameterizedTest
  @ValueSource(strings = {"talk", "stream"})
  void bothEndsAreSeenOnUcx(String program) throws Exception {
    assumeTrue(Settings.ucxInstalled(), "no UCX here");
    Path root = Path.of(System.getProperty("talaria.test.root"));
    ChildProcess unused =
        ChildProcess.command("bash", root + "/test/rdma-test/sockets.sh", "posix", program)
            .oneOutput()
            .environment("CLASSES", ClassPath.programs())
            .environment("JAVA_HOME", System.getProperty("java.home"))
            .environment("UCX_TLS", "posix,self")
            .runSuccessfully(Duration.ofMinutes(2));
  }
}

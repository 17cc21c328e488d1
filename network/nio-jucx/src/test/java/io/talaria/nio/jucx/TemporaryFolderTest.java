// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * JUCX unpacks its native part into {@code /tmp} and loads it there: a {@code /tmp} that does not
 * let it, mounted for one process, costs the transport, and not the connection.
 */
@Timeout(180)
class TemporaryFolderTest {
  private static final long LIMIT_SECONDS = 120;

  private static final String SENTENCE =
      "JUCX 1.15.0 cannot be loaded: its native part is unpacked into /tmp, which must be writable"
          + " and not mounted noexec; name another by -Djava.io.tmpdir.";

  /** Mounts one over {@code /tmp} in a namespace of its own, and becomes the rest. */
  private static final String MOUNT =
      "mount -t tmpfs -o \"$1\",mode=1777 talaria-test /tmp && shift && exec \"$@\"";

  @BeforeEach
  void aMountIsAllowed() throws Exception {
    assumeTrue(mayMount(), "no rights for a mount namespace of one's own");
  }

  private static boolean mayMount() throws InterruptedException {
    try {
      return ChildProcess.command("unshare", "-m", "sh", "-c", MOUNT, "sh", "noexec", "true")
              .run(Duration.ofSeconds(LIMIT_SECONDS))
              .exitStatus()
          == 0;
    } catch (IOException e) {
      return false; // no such program
    }
  }

  private static Program underTmp(String name, String options) throws IOException {
    return new Program(Churn.class, name).under("unshare", "-m", "sh", "-c", MOUNT, "sh", options);
  }

  @ParameterizedTest
  @ValueSource(strings = {"noexec", "ro", "size=4k"})
  void isNamedWithTheHintAndTcpGoesOn(String options) throws Exception {
    ChildProcess ended = underTmp("tmp-" + options, options).run(LIMIT_SECONDS, "1");
    assertThat(ended.exitStatus()).as("%s", ended).isZero();
    assertThat(ended.outText()).contains("TCP no-ucx 1 1\n").doesNotContain("UCX same-host");
    assertThat(ended.errText()).contains("no-ucx").contains(SENTENCE);
  }

  @Test
  void theHintHelps() throws Exception {
    Program program = underTmp("tmp-cured", "noexec");
    Path other = Files.createDirectories(program.folder().resolve("unpacked"));
    ChildProcess ended = program.option("-Djava.io.tmpdir=" + other).run(LIMIT_SECONDS, "1");
    assertThat(ended.exitStatus()).as("%s", ended).isZero();
    assertThat(ended.outText()).contains("UCX same-host 1 1\n").doesNotContain("TCP");
  }
}

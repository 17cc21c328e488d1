// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jit;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that has just started makes no classes of Talaria's lambdas: the build has. */
class LambdaClassesTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path dir;

  @Test
  void lambdasAreClassesOfTheLibrary() throws Exception {
    ChildProcess child =
        ChildProcess.jvm(NotInlinedTest.class)
            .options(
                "-Xlog:class+load",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-Dtalaria.dir=" + dir.resolve("talaria"),
                "-Dtalaria.shm.dir=" + dir.resolve("shm"))
            .runSuccessfully(LIMIT);
    List<String> loaded =
        child.out().stream()
            .filter(line -> line.matches(".* io\\.talaria\\.nio\\..* source: .*"))
            .toList();
    assertThat(loaded)
        .anyMatch(line -> line.contains("io.talaria.nio.channel.TalariaSelector$Lambda1 "))
        .noneMatch(line -> line.contains("/0x"));
  }
}

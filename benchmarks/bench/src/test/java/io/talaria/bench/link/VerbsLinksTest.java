// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.bench.engine.LinkPair;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import io.talaria.testsupport.ChildProcess;
import io.talaria.verbs.Verbs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Both sides of the bindings of verbs in one JVM, on the provider in memory that the tests of verbs
 * have: nothing that is measured here would mean anything, but each pattern comes to its end.
 */
@Timeout(300)
class VerbsLinksTest {
  private static final String SOURCE = "network/verbs/src/test/c/loopback.c";
  private static final int MESSAGES = 500;

  @BeforeAll
  static void build() throws Exception {
    Path source = Path.of(SOURCE);
    if (!Files.exists(source)) {
      source = Path.of("..", "..").resolve(SOURCE);
    }
    Path library = Files.createTempDirectory("talaria-verbs-links").resolve("libloopback.so");
    ChildProcess gcc =
        ChildProcess.command("gcc", "-shared", "-fPIC", "-O2", "-o", library, source)
            .run(Duration.ofMinutes(2));
    assumeTrue(
        gcc.exitStatus() == 0,
        () -> "gcc or libibverbs-dev and librdmacm-dev are missing: " + gcc.output());
    System.setProperty(Verbs.LIBRARY_PROPERTY, library.toString());
    System.setProperty(Verbs.CM_LIBRARY_PROPERTY, library.toString());
    library.toFile().deleteOnExit();
    library.getParent().toFile().deleteOnExit();
  }

  @ParameterizedTest
  @CsvSource({
    "VERBS_MESSAGE, 16, 65536",
    "VERBS_WRITE, 16, 65536",
    "VERBS_READ, 16, 65536",
    "VERBS_NET, 16, 4096",
    "VERBS_NET, 16, 262144"
  })
  void everyPatternThatItCanDoComesToItsEnd(BindingKind kind, int small, int large)
      throws Exception {
    try (LinkPair pair = new LinkPair(kind, large)) {
      for (int size : new int[] {small, large, small}) {
        for (Pattern pattern : Pattern.values()) {
          if (kind.supports(pattern)) {
            pair.operate(pattern, size, MESSAGES);
          }
        }
      }
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.bench.engine.LinkPair;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import io.talaria.testsupport.VerbsInMemory;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Both sides of the bindings of verbs in one JVM, on the provider in memory that the tests of verbs
 * have: nothing that is measured here would mean anything, but each pattern comes to its end.
 */
@Tag("alone")
@Timeout(300)
class VerbsLinksTest {
  private static final int MESSAGES = 200;

  @BeforeAll
  static void build() {
    Optional<String> unavailableReason = VerbsInMemory.prepare();
    assumeTrue(unavailableReason.isEmpty(), () -> unavailableReason.orElseThrow());
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

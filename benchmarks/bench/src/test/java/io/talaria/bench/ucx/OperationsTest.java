// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.engine.LinkPair;
import io.talaria.bench.plan.Pattern;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operation over real UCX, both sides in this JVM, as a case measures it. */
@Tag("alone")
@Timeout(120)
class OperationsTest {
  private static final int MESSAGES = 200;

  /** Of large messages fewer, but more than are in flight at once. */
  private static final int LARGE = 1 << 20;

  private static final int LARGE_MESSAGES = Operation.WINDOW + 8;

  static Stream<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Operation operation : Operation.values()) {
      for (Kind kind : Kind.values()) {
        for (int size : operation.isAtomic() ? List.of(4, 8) : List.of(8, 1_000, LARGE)) {
          cases.add(Arguments.of(new Case(operation, kind, size, 1)));
        }
      }
    }
    return cases.stream();
  }

  /** A message that is lost, or one too many, would keep the other side waiting. */
  @ParameterizedTest
  @MethodSource("cases")
  void bothSidesComeToTheirEnd(Case what) throws Exception {
    NeedsUcx.check();
    Pattern pattern = what.pattern();
    assertThat(what.operation().kind().supports(pattern)).isTrue();
    int messages = what.sizeBytes() == LARGE ? LARGE_MESSAGES : MESSAGES;
    try (LinkPair pair = new LinkPair(what.operation().kind(), what.sizeBytes())) {
      for (int i = 0; i < 3; i++) {
        pair.operate(pattern, what.sizeBytes(), messages);
      }
    }
  }
}

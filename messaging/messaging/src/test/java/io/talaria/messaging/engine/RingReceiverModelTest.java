// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Nothing lies in the ring of responses when all rest who share it, in whatever order they went.
 */
class RingReceiverModelTest {
  @ParameterizedTest
  @CsvSource({"1, 2, 1, 2", "2, 1, 1, 2", "1, 1, 2, 1"})
  void noOrderLeavesAnResponseInTheRing(int leaders, int rounds, int producers, int records) {
    RingReceiverModel model = new RingReceiverModel(true);
    assertThat(model.loses(leaders, rounds, producers, records)).isFalse();
    assertThat(model.states()).isGreaterThan(100);
  }

  @Tag("long")
  @Test
  void norDoesOneOfTwoLeadersAndTwoProducers() {
    assertThat(new RingReceiverModel(true).loses(2, 1, 2, 1)).isFalse();
  }

  /** The model sees what it is made for. */
  @Test
  void whoDoesNotLookAgainLosesOne() {
    assertThat(new RingReceiverModel(false).loses(1, 1, 1, 1)).isTrue();
  }
}

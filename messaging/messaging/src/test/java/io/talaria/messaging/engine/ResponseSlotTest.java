// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** A place for a request has an end, whatever goes wrong. */
class ResponseSlotTest {
  @Test
  void aResponseThatCannotBeTakenInEndsTheRequest() {
    ResponseSlot slot = new ResponseSlot(0);
    int generation = slot.open(null);
    assertThatThrownBy(() -> slot.complete(null, generation, null, MemorySegment.NULL, 0, 1, false))
        .isInstanceOf(IndexOutOfBoundsException.class); // as if its connection had ended meanwhile
    assertThat(slot.done(generation)).isTrue();
    slot.reset(generation);
    assertThat(slot.gone(generation)).isTrue();
    assertThat(slot.open(null)).isEqualTo(generation + 1);
  }
}

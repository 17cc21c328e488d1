// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.ring.RingProducer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

/** What becomes of a ring that cannot be made larger. */
class MemoryLinkTest {
  /** What it makes its second rings of is too short. */
  private static final class Failing extends MemoryLink {
    private final MemorySegment[] first = new MemorySegment[RingPair.COUNT];

    Failing() {
      super(1 << 20, 256 << 10);
      begin();
    }

    @Override
    MemorySegment outMemory(int priority, int generation) {
      int capacity = ShmLayout.capacity(priority, generation, maxCapacity(priority));
      int bytes = RingLayout.bytes(capacity);
      MemorySegment ring = Arena.ofAuto().allocate(generation == 0 ? bytes : bytes / 2, 128);
      if (generation == 0) {
        first[priority] = ring;
      }
      return ring;
    }

    @Override
    MemorySegment inMemory(int priority, int generation) {
      return first[priority];
    }

    @Override
    public String transport() {
      return "";
    }

    @Override
    public String reason() {
      return "";
    }

    @Override
    public SocketChannel session() {
      return null;
    }

    @Override
    public void wakePeer() {}

    @Override
    void wakeSenders() {}

    @Override
    public boolean pull() {
      return false;
    }

    @Override
    public boolean severed() {
      return false;
    }

    @Override
    public void close() {}
  }

  /** Else who sends would wait for the next one, for ever and with a whole core. */
  @Test
  void aRingThatCouldNotBeContinuedHasEnded() {
    Failing link = new Failing();
    assertThatThrownBy(() -> link.grow(RingPair.DATA)).isInstanceOf(IllegalArgumentException.class);
    RingProducer ring = link.out(RingPair.DATA);
    assertThat(ring.sealed()).isTrue();
    assertThat(link.grows(RingPair.DATA, ring)).as("would be waited for").isFalse();
  }
}

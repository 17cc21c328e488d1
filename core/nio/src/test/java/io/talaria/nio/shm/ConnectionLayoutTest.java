// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** A control page that is used again shows its next connection nothing of the last. */
class ConnectionLayoutTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;
  private static final int BESIDE = 64;

  @Test
  void aPageThatIsUsedAgainIsAsANewOneAndItsNeighboursAreLeftAlone() {
    for (int slot = 0; slot < 2 * ConnectionLayout.PLACES; slot++) {
      ByteBuffer memory = ByteBuffer.allocateDirect(ConnectionLayout.CONTROL_BYTES + 2 * BESIDE);
      while (memory.hasRemaining()) {
        memory.put((byte) -1);
      }
      ByteBuffer used =
          memory.slice(BESIDE, ConnectionLayout.CONTROL_BYTES).order(ByteOrder.nativeOrder());
      ByteBuffer unused =
          ByteBuffer.allocateDirect(ConnectionLayout.CONTROL_BYTES).order(ByteOrder.nativeOrder());

      ConnectionLayout.reset(used, slot, 7, RING);
      ConnectionLayout.reset(unused, slot, 7, RING);

      assertThat(used).isEqualTo(unused);
      assertThat(ConnectionLayout.ready(used, 7, RING)).isTrue();
      assertThat(ConnectionLayout.ready(used, 6, RING)).isFalse();
      for (int i = 0; i < BESIDE; i++) {
        assertThat(memory.get(i)).isEqualTo((byte) -1);
        assertThat(memory.get(BESIDE + ConnectionLayout.CONTROL_BYTES + i)).isEqualTo((byte) -1);
      }
    }
  }
}

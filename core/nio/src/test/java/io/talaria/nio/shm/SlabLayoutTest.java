// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every slot has a page of its own, and every ring its place, in a file of a known size. */
class SlabLayoutTest {
  private static final int KIB = 1 << 10;

  @Test
  void everySlotHasAPageOfItsOwn() {
    int slot = 0;
    for (int slab = 0; slab < SlabLayout.SLABS; slab++) {
      assertThat(SlabLayout.firstSlot(slab)).isEqualTo(slot);
      assertThat(SlabLayout.pages(slab)).isBetween(1, SlabLayout.MAX_PAGES);
      for (int page = 0; page < SlabLayout.pages(slab); page++, slot++) {
        assertThat(SlabLayout.slab(slot)).isEqualTo(slab);
        assertThat(SlabLayout.pageAt(slot)).isEqualTo(page * SlabLayout.PAGE_BYTES);
      }
    }
    assertThat(slot).isEqualTo(PeerLayout.SLOTS);
  }

  @ParameterizedTest
  @ValueSource(ints = {4 * KIB, 32 * KIB, 256 * KIB, KIB * KIB, 256 * KIB * KIB})
  void everyRingHasAPlaceOfItsOwn(int ringBytes) {
    for (int slab = 0; slab < 7; slab++) {
      long at = (long) SlabLayout.pages(slab) * SlabLayout.PAGE_BYTES;
      for (int side = 0; side < 2; side++) {
        for (int i = 0; i < SlabLayout.rings(slab, ringBytes); i++) {
          assertThat(SlabLayout.ringAt(slab, side, i, ringBytes)).isEqualTo((int) at);
          assertThat((SlabRings.bits(slab) >>> SlabLayout.ring(slab, i)) & 1).isEqualTo(1);
          at += ringBytes;
        }
      }
      assertThat(SlabLayout.rings(slab, ringBytes))
          .isBetween(slab == 0 ? 1 : 0, SlabLayout.RING_NUMBERS);
      assertThat((long) SlabLayout.bytes(slab, ringBytes)).isEqualTo(at);
    }
  }

  /** What the documents promise. */
  @Test
  void aConnectionIsNeverDearerThanWithAFileOfItsOwn() {
    int ring = 32 * KIB;
    long bytes = 0;
    for (int slab = 0; slab < SlabLayout.SLABS; slab++) {
      bytes += SlabLayout.bytes(slab, ring);
      long connections = (long) SlabLayout.firstSlot(slab) + SlabLayout.pages(slab);
      assertThat(bytes).isLessThanOrEqualTo(connections * (4 * KIB + 2 * ring));
    }
    assertThat(SlabLayout.bytes(0, ring)).isEqualTo(68 * KIB);
    assertThat(SlabLayout.bytes(1, ring)).isEqualTo(208 * KIB);
    assertThat(SlabLayout.bytes(2, ring)).isEqualTo(448 * KIB);
    assertThat(SlabLayout.bytes(3, ring)).isEqualTo(768 * KIB);
    assertThat(SlabLayout.bytes(4, ring)).isEqualTo(1024 * KIB);
    assertThat(SlabLayout.bytes(259, ring)).isEqualTo(684 * KIB);
  }
}

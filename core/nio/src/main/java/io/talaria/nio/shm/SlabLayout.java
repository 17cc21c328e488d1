// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

/**
 * Where the control pages of connections lie: many in one file, a slab, which both processes of a
 * pair map once. The first slabs hold rings as well, for connections of whatever slab: the first
 * connection of a pair has a page and a ring of its own in each direction, the ten thousandth a
 * page and a share.
 *
 * <pre>
 *                   0  +------------------------------------------+
 *                      | control page of the slab's first slot    |
 *                      | control pages of the next slots          |
 *  pages * PAGE_BYTES  +------------------------------------------+
 *                      | rings that side 0 writes                 |
 *                      +------------------------------------------+
 *                      | rings that side 1 writes, as many        |
 *                      +------------------------------------------+
 *
 *  slab            0       1        2         3         4           5
 *  slots           0       1..4     5..20     21..84    85..340     341..596   ...
 *  rings a side    1       3        6         8         0           0          ...
 * </pre>
 *
 * <p>A slot is the place of a connection among those of the pair, so it names slab and page. Large
 * rings are fewer: of a slab other than the first no more than {@link #MAX_RING_BYTES} a side.
 */
final class SlabLayout {
  static final int PAGE_BYTES = ConnectionLayout.CONTROL_BYTES;
  static final int SLABS = 260;

  /** Pages of a slab, but for the first ones, and the last. */
  static final int MAX_PAGES = 256;

  /** How many of the first slabs are smaller than others, and have rings. */
  static final int RING_SLABS = 4;

  /** Numbers of rings a slab; some of them are of none. */
  static final int RING_NUMBERS = 8;

  static final int MAX_RING_BYTES = 1 << 18;

  private static final int[] RINGS = {1, 3, 6, 8};

  private SlabLayout() {}

  /** Number of the slab in which the page of a slot lies. */
  static int slab(int slot) {
    int slab = 0;
    while (slab < RING_SLABS && slot >= firstSlot(slab + 1)) {
      slab++;
    }
    return slab < RING_SLABS ? slab : RING_SLABS + (slot - firstSlot(RING_SLABS)) / MAX_PAGES;
  }

  /** The slot of a slab's first page. */
  static int firstSlot(int slab) {
    return slab <= RING_SLABS
        ? ((1 << (2 * slab)) - 1) / 3
        : firstSlot(RING_SLABS) + (slab - RING_SLABS) * MAX_PAGES;
  }

  static int pages(int slab) {
    int pages = slab < RING_SLABS ? 1 << (2 * slab) : MAX_PAGES;
    return Math.min(pages, PeerLayout.SLOTS - firstSlot(slab));
  }

  /** How many rings of a slab each side writes. */
  static int rings(int slab, int ringBytes) {
    if (slab >= RING_SLABS) {
      return 0;
    }
    int room = MAX_RING_BYTES / ringBytes;
    return Math.min(RINGS[slab], slab == 0 ? Math.max(1, room) : room);
  }

  static int bytes(int slab, int ringBytes) {
    return pages(slab) * PAGE_BYTES + 2 * rings(slab, ringBytes) * ringBytes;
  }

  /** Offset of the control page of a slot in its slab. */
  static int pageAt(int slot) {
    return (slot - firstSlot(slab(slot))) * PAGE_BYTES;
  }

  /** Offset of a ring in its slab. */
  static int ringAt(int slab, int writerSide, int index, int ringBytes) {
    int before = writerSide * rings(slab, ringBytes) + index;
    return pages(slab) * PAGE_BYTES + before * ringBytes;
  }

  /** Number of a ring among all that a side writes. */
  static int ring(int slab, int index) {
    return slab * RING_NUMBERS + index;
  }
}

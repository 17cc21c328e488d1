// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.memory.Mapping;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;

/** A mapped slab, see {@link SlabLayout}, and which streams use its pages. Negotiation thread. */
final class Slab {
  final int index;
  final int pages;
  final Mapping mapping;

  /** Its file's id on the side that made it, else 0. */
  final long fileId;

  /** Whether both sides have it. */
  boolean mappedThere;

  /** Whether the peer could not map it. */
  boolean refused;

  /** Whether its memory is gone. */
  boolean lost;

  /** Whether it has been unmapped: its index then stays taken, because the peer may use it yet. */
  boolean closed;

  /** Pages with a stream of this side's. */
  int streams;

  /** Pages that are not free: at the side that gives them out, until both have released them. */
  private final BitSet used = new BitSet();

  private int usedPages;

  Slab(int index, Mapping mapping, long fileId) {
    this.index = index;
    this.mapping = mapping;
    this.fileId = fileId;
    pages = SlabLayout.pages(index);
  }

  /** The control page of a slot that lies here. */
  ByteBuffer page(int slot) {
    return mapping
        .buffer()
        .slice(SlabLayout.pageAt(slot), SlabLayout.PAGE_BYTES)
        .order(ByteOrder.nativeOrder());
  }

  /** Whether new connections may get pages here. */
  boolean usable() {
    return !refused && !lost;
  }

  boolean full() {
    return usedPages == pages;
  }

  boolean unused() {
    return usedPages == 0;
  }

  int freePages() {
    return pages - usedPages;
  }

  /** Gives out the first free page: its slot. There must be one. */
  int take() {
    int page = used.nextClearBit(0);
    used.set(page);
    usedPages++;
    return SlabLayout.firstSlot(index) + page;
  }

  void giveBack(int slot) {
    used.clear(slot - SlabLayout.firstSlot(index));
    usedPages--;
  }

  /** Whether all of it is still there; if not, it is {@link #lost}. */
  boolean intact() {
    lost = lost || !mapping.intact();
    return !lost;
  }
}

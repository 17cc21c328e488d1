// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.Layout;

/** Parts of a buffer, one for each of several ranks. */
public final class Blocks {
  final Object buffer;
  final Layout layout;
  private final int offset;
  private final int[] counts;
  private final int[] places;

  /**
   * Parts of a buffer.
   *
   * @param buffer of all
   * @param offset of displacement 0
   * @param counts layouts, by rank
   * @param places displacements by rank, in layouts
   * @param layout of the elements
   */
  public Blocks(Object buffer, int offset, int[] counts, int[] places, Layout layout) {
    this.buffer = buffer;
    this.offset = offset;
    this.counts = counts;
    this.places = places;
    this.layout = layout;
  }

  /** Where the elements of a layout are. */
  public Layout layout() {
    return layout;
  }

  int at(int rank) {
    return offset + places[rank] * layout.extent();
  }

  int count(int rank) {
    return counts[rank];
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.util.Arrays;

/** Ids of several nodes, in a fixed order. Immutable. */
public final class NodeSet {
  private final int[] ids;

  private NodeSet(int[] ids) {
    this.ids = ids;
  }

  /** A set of these ids, in this order. */
  public static NodeSet of(int... ids) {
    return new NodeSet(ids.clone());
  }

  /** The number of nodes. */
  public int size() {
    return ids.length;
  }

  /**
   * The id at an index.
   *
   * @param index from 0 to {@link #size} - 1
   */
  public int id(int index) {
    return ids[index];
  }

  @Override
  public String toString() {
    return Arrays.toString(ids);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.util.Arrays;

/** Some nodes, in a fixed order. Immutable. */
public final class NodeSet {
  private final int[] ids;

  private NodeSet(int[] ids) {
    this.ids = ids;
  }

  /** A set of these ids. */
  public static NodeSet of(int... ids) {
    return new NodeSet(ids.clone());
  }

  /** How many. */
  public int size() {
    return ids.length;
  }

  /** One of them. */
  public int id(int index) {
    return ids[index];
  }

  @Override
  public String toString() {
    return Arrays.toString(ids);
  }
}

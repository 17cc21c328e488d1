// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.Layout;

/** An operation of a reduction on dense arrays of a base type. */
public interface Reduction {
  /** Whether operands may be taken in any order. */
  boolean commutative();

  /**
   * Computes {@code inout = in OP inout}, element by element.
   *
   * @param in left operands
   * @param inOffset first of them
   * @param inout right operands and results
   * @param inoutOffset first of them
   * @param count datatypes, of {@code layout.size()} base elements each
   * @param layout the datatype
   */
  void apply(Object in, int inOffset, Object inout, int inoutOffset, int count, Layout layout);
}

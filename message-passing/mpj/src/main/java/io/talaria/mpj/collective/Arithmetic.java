// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;

/** The predefined operations of reductions. */
public enum Arithmetic implements Reduction {
  /** Largest. */
  MAX,
  /** Smallest. */
  MIN,
  /** Sum. */
  SUM,
  /** Product. */
  PROD,
  /** Logical and. */
  LAND,
  /** Bitwise and. */
  BAND,
  /** Logical or. */
  LOR,
  /** Bitwise or. */
  BOR,
  /** Logical exclusive or. */
  LXOR,
  /** Bitwise exclusive or. */
  BXOR,
  /** Largest of the first of each pair, with its second. */
  MAXLOC,
  /** Smallest of the first of each pair, with its second. */
  MINLOC,
  /** For windows: the new value. */
  REPLACE,
  /** For windows: the old value. */
  NO_OP;

  @Override
  public boolean commutative() {
    return true;
  }

  /** Whether two operands give the same bits in either order, but for which NaN it is. */
  boolean symmetric() {
    return switch (this) {
      case MAX, MIN, SUM, PROD, LAND, BAND, LOR, BOR, LXOR, BXOR -> true;
      case MAXLOC, MINLOC, REPLACE, NO_OP -> false;
    };
  }

  @Override
  public void apply(
      Object in, int inOffset, Object inout, int inoutOffset, int count, Layout layout) {
    if (!compute(in, inOffset, inout, inoutOffset, count, layout)) {
      throw new CommunicationException(
          Kind.OPERATION, this + " is not defined for " + layout.base() + " elements");
    }
  }

  /**
   * Whether it can be applied.
   *
   * @param layout the datatype
   */
  public boolean definedFor(Layout layout) {
    return compute(null, 0, null, 0, 0, layout);
  }

  private boolean compute(
      Object in, int inOffset, Object inout, int inoutOffset, int count, Layout layout) {
    int n = count * layout.size();
    boolean pairs = this == MAXLOC || this == MINLOC;
    return (!pairs || layout.size() % 2 == 0)
        && switch (layout.base()) {
          case BYTE -> OfByte.apply(this, (byte[]) in, inOffset, (byte[]) inout, inoutOffset, n);
          case CHAR -> OfChar.apply(this, (char[]) in, inOffset, (char[]) inout, inoutOffset, n);
          case SHORT ->
              OfShort.apply(this, (short[]) in, inOffset, (short[]) inout, inoutOffset, n);
          case INT -> OfInt.apply(this, (int[]) in, inOffset, (int[]) inout, inoutOffset, n);
          case LONG -> OfLong.apply(this, (long[]) in, inOffset, (long[]) inout, inoutOffset, n);
          case FLOAT ->
              OfFloat.apply(this, (float[]) in, inOffset, (float[]) inout, inoutOffset, n);
          case DOUBLE ->
              OfDouble.apply(this, (double[]) in, inOffset, (double[]) inout, inoutOffset, n);
          case BOOLEAN ->
              OfBoolean.apply(this, (boolean[]) in, inOffset, (boolean[]) inout, inoutOffset, n);
          default -> false;
        };
  }
}

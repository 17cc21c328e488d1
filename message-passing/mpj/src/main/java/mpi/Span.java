// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Blocks;
import io.talaria.mpj.datatype.Layout;
import java.util.Arrays;

/**
 * What a program gives for one side of a collective whose parts have the same length. Nothing of it
 * is checked yet: MPI says at which ranks it counts.
 *
 * @param given the buffer, or {@link MPI#IN_PLACE}
 * @param offset of the first element
 * @param count of one part
 * @param type of the elements
 */
record Span(Object given, int offset, int count, Datatype type) {
  boolean inPlace() {
    return given == MPI.IN_PLACE;
  }

  /** The array or segment behind the buffer. */
  Object buffer() {
    return Buffers.normal(given, type);
  }

  /** What a rank sends or receives alone: the array or segment, or null if that is in place. */
  Object bufferOrInPlace() {
    if (given == null && count == 0) {
      // No elements need no buffer; null has another meaning from here on.
      return Comm.committed(type).base().newArray(0);
    }
    if (given == null) {
      Buffers.check(null, 0, count, Comm.committed(type), type);
    }
    return inPlace() ? null : buffer();
  }

  /**
   * Checks one part or several that follow each other.
   *
   * @param buffer what {@link #buffer} gave
   * @param parts how many
   * @param receive whether elements must not lie on each other
   * @return where the elements of a type are
   */
  Layout check(Object buffer, int parts, boolean receive) {
    Layout layout = Comm.committed(type);
    notNegative(count);
    Buffers.checkCollective(buffer, offset, (long) count * parts, layout, type, receive);
    return layout;
  }

  /** Checks one part that is sent. */
  Layout sent(Object buffer) {
    return check(buffer, 1, false);
  }

  /** Checks one part that is received. */
  Layout received(Object buffer) {
    return check(buffer, 1, true);
  }

  /**
   * Checks a part for each of several ranks.
   *
   * @param n ranks
   * @param whose what these are called
   * @param same whether there is one part, for all of them
   */
  Blocks blocks(int n, String whose, boolean same, boolean receive) {
    notNegative(count);
    int[] counts = new int[n];
    int[] places = new int[n];
    Arrays.fill(counts, count);
    if (!same) {
      Arrays.setAll(places, k -> Buffers.toInt((long) k * count, "displacement"));
    }
    return new Spans(given, offset, counts, places, type).blocks(n, whose, receive);
  }

  static void notNegative(int count) {
    if (count < 0) {
      throw new MPIException(MPIException.ERR_COUNT, "count " + count + ": 0 or more is allowed");
    }
  }
}

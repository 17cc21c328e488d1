// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Blocks;
import io.talaria.mpj.datatype.Layout;

/**
 * What a program gives for one side of a collective whose parts have different lengths. Nothing of
 * it is checked yet: MPI says at which ranks it counts.
 */
final class Spans {
  private final Object given;
  private final int offset;
  private final int[] counts;
  private final int[] displacements;
  private final Datatype type;

  /**
   * As given.
   *
   * @param given the buffer, or {@link MPI#IN_PLACE}
   * @param offset of displacement 0
   * @param counts by rank
   * @param displacements by rank, in elements of the type
   * @param type of the elements
   */
  Spans(Object given, int offset, int[] counts, int[] displacements, Datatype type) {
    this.given = given;
    this.offset = offset;
    this.counts = counts;
    this.displacements = displacements;
    this.type = type;
  }

  boolean inPlace() {
    return given == MPI.IN_PLACE;
  }

  int offset() {
    return offset;
  }

  int[] counts() {
    return counts;
  }

  int[] displacements() {
    return displacements;
  }

  /** The array or segment behind the buffer. */
  Object buffer() {
    return Buffers.normal(given, type);
  }

  /**
   * Checks the parts for several ranks.
   *
   * @param buffer what {@link #buffer} gave
   * @param n ranks
   * @param whose what these are called
   * @param receive whether elements of a part must not lie on each other
   * @return where the elements of a type are
   */
  Layout check(Object buffer, int n, String whose, boolean receive) {
    Layout layout = Comm.committed(type);
    oneForEach(n, whose, counts, "the array of counts");
    oneForEach(n, whose, displacements, "the array of displacements");
    for (int i = 0; i < n; i++) {
      long at = offset + (long) displacements[i] * layout.extent();
      Buffers.checkCollective(buffer, at, counts[i], layout, type, receive);
    }
    return layout;
  }

  /** The same, as the algorithms take them. */
  Blocks blocks(int n, String whose, boolean receive) {
    Object buffer = buffer();
    return new Blocks(buffer, offset, counts, displacements, check(buffer, n, whose, receive));
  }

  /**
   * Checks that an array has an element for each rank, at least.
   *
   * @param n ranks
   * @param whose what these are called
   * @param values the array
   * @param name of the array
   */
  static void oneForEach(int n, String whose, int[] values, String name) {
    if (values == null || values.length < n) {
      throw new MPIException(
          MPIException.ERR_COUNT,
          name
              + (values == null ? " is null" : " has " + values.length + " elements")
              + ": one for each of the "
              + n
              + " "
              + whose
              + " is needed");
    }
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.collective.Reduction;
import io.talaria.mpj.datatype.Layout;

/**
 * What a program gives for a reduction, but for its counts. Nothing of it is checked yet: MPI says
 * at which ranks it counts.
 *
 * @param send the send buffer, or {@link MPI#IN_PLACE}
 * @param sendOffset of its first element
 * @param receive the receive buffer
 * @param receiveOffset of its first element
 * @param type of the elements
 * @param op combines them
 */
record Operands(
    Object send, int sendOffset, Object receive, int receiveOffset, Datatype type, Op op) {
  boolean inPlace() {
    return send == MPI.IN_PLACE;
  }

  /** The array or segment behind the receive buffer. */
  Object receiveBuffer() {
    return Buffers.normal(receive, type);
  }

  /**
   * The array or segment with this rank's operands.
   *
   * @param result what {@link #receiveBuffer} gave
   */
  Object sendBuffer(Object result) {
    return inPlace() ? result : Buffers.normal(send, type);
  }

  /** Of the first operand in {@link #sendBuffer}. */
  int from() {
    return inPlace() ? receiveOffset : sendOffset;
  }

  /**
   * Checks this rank's operands.
   *
   * @param buffer what {@link #sendBuffer} gave
   * @return where the elements of a type are
   */
  Layout sent(Object buffer, long count) {
    Layout layout = Comm.committed(type);
    Buffers.checkCollective(buffer, from(), count, layout, type, false);
    return layout;
  }

  /**
   * Checks the place of the result.
   *
   * @param buffer what {@link #receiveBuffer} gave
   * @return where the elements of a type are
   */
  Layout received(Object buffer, long count) {
    Layout layout = Comm.committed(type);
    Buffers.checkCollective(buffer, receiveOffset, count, layout, type, true);
    return layout;
  }

  /** What combines elements; it is defined for them. */
  Reduction reduction(Layout layout) {
    if (op == null) {
      throw new MPIException(MPIException.ERR_OP, "operation is null");
    }
    if (op.reduction() instanceof Arithmetic predefined && !predefined.definedFor(layout)) {
      throw new MPIException(
          MPIException.ERR_OP,
          predefined
              + " is not defined for "
              + layout.base()
              + " elements: write a User_function for others");
    }
    return op.reduction();
  }

  /** Elements of the parts of all ranks, none of which may be negative. */
  static long sum(int[] counts, int ranks) {
    long sum = 0;
    for (int i = 0; i < ranks; i++) {
      Span.notNegative(counts[i]);
      sum += counts[i];
    }
    return sum;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

/** An operation of a reduction, written by the program. */
public abstract class User_function {
  /** For subclasses. */
  public User_function() {}

  /**
   * Computes {@code inoutvec = invec OP inoutvec}, element by element. Must not call MPI.
   *
   * @param invec left operands
   * @param inoffset first of them
   * @param inoutvec right operands and results
   * @param inoutoffset first of them
   * @param count elements
   * @param datatype of them
   */
  public abstract void Call(
      Object invec, int inoffset, Object inoutvec, int inoutoffset, int count, Datatype datatype)
      throws MPIException;
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

/** The rank at the other end, or one that might have been, has ended or cannot be reached. */
public class ProcessFailedException extends MPIException {
  private static final long serialVersionUID = 1;

  private final int rank;

  /**
   * Of a rank.
   *
   * @param rank its number in the job
   * @param message what is known
   */
  public ProcessFailedException(int rank, String message) {
    super(ERR_PROC_FAILED, message);
    this.rank = rank;
  }

  /** Its number in the job, from 0. */
  public final int rank() {
    return rank;
  }
}

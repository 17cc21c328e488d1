// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

/** Neighbours along a dimension. */
public class ShiftParms {
  /** Whom to receive from, or {@link MPI#PROC_NULL}. */
  public int rank_source;

  /** Whom to send to, or {@link MPI#PROC_NULL}. */
  public int rank_dest;

  ShiftParms(int source, int dest) {
    rank_source = source;
    rank_dest = dest;
  }
}

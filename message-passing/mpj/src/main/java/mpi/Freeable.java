// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

/** Something of MPI that can be given back. */
interface Freeable {
  /** Gives it back. */
  void free() throws MPIException;
}

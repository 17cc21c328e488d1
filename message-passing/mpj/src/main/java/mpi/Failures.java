// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.RankGoneException;

/** What a program gets for exceptions of the layers below, which do not know those of MPI. */
final class Failures {
  private Failures() {}

  /**
   * The exception of MPI with the text, the stack and the cause of another.
   *
   * @param e what a layer below threw
   * @return to be thrown instead
   */
  static MPIException of(CommunicationException e) {
    MPIException result =
        e instanceof RankGoneException gone
            ? new ProcessFailedException(gone.rank(), gone.getMessage())
            : new MPIException(errorClass(e), e.getMessage(), cause(e));
    result.setStackTrace(e.getStackTrace());
    return result;
  }

  private static Throwable cause(CommunicationException e) {
    return e.getCause() instanceof CommunicationException below ? of(below) : e.getCause();
  }

  private static int errorClass(CommunicationException e) {
    return switch (e.kind()) {
      case COUNT -> MPIException.ERR_COUNT;
      case TYPE -> MPIException.ERR_TYPE;
      case OPERATION -> MPIException.ERR_OP;
      case ARGUMENT -> MPIException.ERR_ARG;
      case RANGE -> MPIException.ERR_RMA_RANGE;
      case TRUNCATED -> MPIException.ERR_TRUNCATE;
      // A function of the program may have thrown an exception of MPI.
      case PROGRAM ->
          e.getCause() instanceof MPIException known ? known.errorClass() : MPIException.ERR_BUFFER;
      case RANK_GONE -> MPIException.ERR_PROC_FAILED;
      case REVOKED -> MPIException.ERR_REVOKED;
      case DISAGREEMENT, THREAD -> MPIException.ERR_OTHER;
    };
  }
}

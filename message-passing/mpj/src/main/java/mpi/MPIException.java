// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

/**
 * An error of MPI. Unchecked, so that programs for libraries where it is checked and for those
 * where it is not both compile.
 */
public class MPIException extends RuntimeException {
  /** A bad buffer: null, of another type, or too small. */
  public static final int ERR_BUFFER = 1;

  /** A bad count. */
  public static final int ERR_COUNT = 2;

  /** A bad datatype, or one that does not match the message. */
  public static final int ERR_TYPE = 3;

  /** A bad tag. */
  public static final int ERR_TAG = 4;

  /** A bad communicator. */
  public static final int ERR_COMM = 5;

  /** A bad rank. */
  public static final int ERR_RANK = 6;

  /** A bad request. */
  public static final int ERR_REQUEST = 7;

  /** A bad root. */
  public static final int ERR_ROOT = 8;

  /** A bad group. */
  public static final int ERR_GROUP = 9;

  /** A bad operation of a reduction. */
  public static final int ERR_OP = 10;

  /** A bad topology. */
  public static final int ERR_TOPOLOGY = 11;

  /** A bad dimension. */
  public static final int ERR_DIMS = 12;

  /** A bad argument of another kind. */
  public static final int ERR_ARG = 13;

  /** A message that is longer than its receive. */
  public static final int ERR_TRUNCATE = 15;

  /** A bad kind of lock. */
  public static final int ERR_LOCKTYPE = 47;

  /** An access to a window, or the end of one, where MPI's rules do not allow it. */
  public static final int ERR_RMA_SYNC = 50;

  /** A bad displacement. */
  public static final int ERR_DISP = 52;

  /** A bad assertion. */
  public static final int ERR_ASSERT = 53;

  /** Elements that are not in the window of the target. */
  public static final int ERR_RMA_RANGE = 55;

  /** Memory that cannot be attached to a window, or is not. */
  public static final int ERR_RMA_ATTACH = 56;

  /** Memory that ranks do not share, or that cannot be made. */
  public static final int ERR_RMA_SHARED = 57;

  /** A window that was freed. */
  public static final int ERR_WIN = 45;

  /** A rank that has ended or cannot be reached. */
  public static final int ERR_PROC_FAILED = 75;

  /** A communicator that a rank has revoked. */
  public static final int ERR_REVOKED = 77;

  /** Something else. */
  public static final int ERR_OTHER = 16;

  private static final long serialVersionUID = 1;

  private final int errorClass;

  /** Of no class, without a message. */
  public MPIException() {
    errorClass = ERR_OTHER;
  }

  /**
   * Of no class.
   *
   * @param message what is wrong
   */
  public MPIException(String message) {
    this(ERR_OTHER, message);
  }

  /**
   * Of no class.
   *
   * @param cause why
   */
  public MPIException(Throwable cause) {
    super(cause);
    errorClass = ERR_OTHER;
  }

  /**
   * Of a class.
   *
   * @param errorClass one of this class's constants
   * @param message what is wrong
   */
  public MPIException(int errorClass, String message) {
    super(message);
    this.errorClass = errorClass;
  }

  /**
   * Of a class.
   *
   * @param errorClass one of this class's constants
   * @param message what is wrong
   * @param cause why
   */
  public MPIException(int errorClass, String message, Throwable cause) {
    super(message, cause);
    this.errorClass = errorClass;
  }

  /** Which kind of error it is. */
  public final int errorClass() {
    return errorClass;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Libc;

/** libibverbs or librdmacm refused a call; the message has the C library's words. */
public final class VerbsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A positive error number. */
  private final int errno;

  /**
   * Makes the exception.
   *
   * @param errno the error number, of either sign
   * @param what the call
   */
  public VerbsException(int errno, String what) {
    this(errno, what, "");
  }

  /**
   * Makes the exception.
   *
   * @param errno the error number, of either sign
   * @param what the call
   * @param hint what the user can do; a sentence, or nothing
   */
  public VerbsException(int errno, String what, String hint) {
    super(
        what
            + ": "
            + Libc.errorText(Math.abs(errno))
            + " ("
            + Math.abs(errno)
            + ")"
            + (hint.isEmpty() ? "" : ". " + hint));
    this.errno = Math.abs(errno);
  }

  /**
   * The error number of the C library.
   *
   * @return a positive number, such as 12 for {@code ENOMEM}
   */
  public int errno() {
    return errno;
  }

  /** The result, unless it is a negated error number. */
  static long check(long result, String what) {
    if (result < 0) {
      throw new VerbsException((int) result, what);
    }
    return result;
  }

  /** The result, unless it is a negated error number. */
  static int check(int result, String what) {
    if (result < 0) {
      throw new VerbsException(result, what);
    }
    return result;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

/** A native library is not there or cannot be loaded; the message says what to do. */
public final class MissingLibraryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what is missing and what to do
   * @param cause what the loader said
   */
  public MissingLibraryException(String message, Throwable cause) {
    super(message, cause);
  }
}

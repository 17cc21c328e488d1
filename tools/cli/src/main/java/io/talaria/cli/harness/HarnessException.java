// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

/** A measurement that could not be made; the message says why and is meant for the user. */
public class HarnessException extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what went wrong, with the hint where there is one
   */
  public HarnessException(String message) {
    super(message);
  }

  /**
   * Creates the exception.
   *
   * @param message what went wrong, with the hint where there is one
   * @param cause what caused it
   */
  public HarnessException(String message, Throwable cause) {
    super(message, cause);
  }
}

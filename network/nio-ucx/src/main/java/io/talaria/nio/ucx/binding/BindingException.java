// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.binding;

/** UCX refused a call, or cannot be reached at all; the message says why. */
public final class BindingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what has happened
   * @param cause what told it, or null
   */
  public BindingException(String message, Throwable cause) {
    super(message, cause);
  }
}

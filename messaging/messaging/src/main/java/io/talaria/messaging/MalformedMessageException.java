// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/** Thrown when the bytes of a message do not fit its type. */
public final class MalformedMessageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message what was found, and what was expected
   */
  public MalformedMessageException(String message) {
    super(message);
  }
}

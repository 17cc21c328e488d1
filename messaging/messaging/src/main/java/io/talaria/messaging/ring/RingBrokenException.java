// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

/** Thrown when the other process has written impossible values into shared memory or a stream. */
public final class RingBrokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message what was found, and what would be valid
   */
  public RingBrokenException(String message) {
    super(message, null, false, false);
  }
}

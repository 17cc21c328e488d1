// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

/** What the other process has written into shared memory cannot be. */
public final class RingBrokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Tells what was found, and what could be. */
  public RingBrokenException(String message) {
    super(message, null, false, false);
  }
}

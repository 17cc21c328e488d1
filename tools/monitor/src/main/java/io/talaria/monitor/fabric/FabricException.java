// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import java.io.IOException;

/** The fabric cannot be queried. The message says why, and what to do about it. */
public final class FabricException extends IOException {
  private static final long serialVersionUID = 1;

  /**
   * Creates it.
   *
   * @param message what is missing, and what to do
   * @param cause why, or null
   */
  public FabricException(String message, Throwable cause) {
    super(message, cause);
  }
}

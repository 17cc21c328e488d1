// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import io.talaria.cli.harness.HarnessException;

/**
 * A child has ended on its own, or the process that ran it has; what others report then is a
 * consequence.
 */
public final class ChildGoneException extends HarnessException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message who, and how it ended
   */
  public ChildGoneException(String message) {
    super(message);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

/** A description of a run that cannot be used; the message names file, place, value and range. */
public final class PlanException extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message for the user
   */
  public PlanException(String message) {
    super(message);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.cli.harness.HarnessException;

/** The library to be measured cannot be used; the message says how it could. */
public final class LibraryMissingException extends HarnessException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message why not, on which side, and what to do
   */
  public LibraryMissingException(String message) {
    super(message);
  }
}

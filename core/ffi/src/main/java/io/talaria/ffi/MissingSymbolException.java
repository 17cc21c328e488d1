// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

/** A function is called that the loaded library, being older or built otherwise, does not have. */
public final class MissingSymbolException extends UnsupportedOperationException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param library the library and where it was found
   * @param symbol the function
   */
  public MissingSymbolException(String library, String symbol) {
    super(library + " has no " + symbol + ": a newer release of the library may have it");
  }
}

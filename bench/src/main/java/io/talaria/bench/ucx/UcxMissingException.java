// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/** UCX cannot be used here; the message says how it could. */
final class UcxMissingException extends Exception {
  private static final long serialVersionUID = 1L;

  UcxMissingException(String message) {
    super(message);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fabric;

import io.talaria.nio.Reason;

/** Tells why a connection cannot use a fabric; it stays plain TCP. */
public final class FabricException extends Exception {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  /** Creates an exception with the catalogue's reason and the detail for the log. */
  public FabricException(Reason reason, String detail) {
    super(reason.code() + ": " + detail);
    this.reason = reason;
  }

  /** Creates an exception with its cause. */
  public FabricException(Reason reason, String detail, Throwable cause) {
    super(reason.code() + ": " + detail, cause);
    this.reason = reason;
  }

  /** The reason shown to the user. */
  public Reason reason() {
    return reason;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import io.talaria.nio.Reason;

/** Tells why a connection cannot use a transport; it stays on TCP TCP. */
public final class TransportException extends Exception {
  private static final long serialVersionUID = 1L;

  private final Reason reason;
  private final String detail;

  /** Creates an exception with the catalogue's reason and the detail for the log. */
  public TransportException(Reason reason, String detail) {
    super(reason.code() + ": " + detail);
    this.reason = reason;
    this.detail = detail;
  }

  /** Creates an exception with its cause. */
  public TransportException(Reason reason, String detail, Throwable cause) {
    super(reason.code() + ": " + detail, cause);
    this.reason = reason;
    this.detail = detail;
  }

  /** The reason shown to the user. */
  public Reason reason() {
    return reason;
  }

  /** The message without the code of the reason, for lines that begin with that. */
  public String detail() {
    return detail;
  }
}

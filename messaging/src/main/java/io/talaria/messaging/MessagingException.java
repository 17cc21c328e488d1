// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.io.IOException;

/** Something was not sent, or not answered; {@link #code} says why. */
public final class MessagingException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Why. */
  public enum Code {
    /** The node is not known, or nobody is there, or it does not let us in. */
    UNREACHABLE,
    /** The connection ended; whether the message arrived is not known. */
    LOST,
    /** The timeout has passed. */
    TIMED_OUT,
    /** It was cancelled, or the thread was interrupted. */
    CANCELLED,
    /** The receiver takes nothing at the moment. */
    BACK_PRESSURED,
    /** The message is larger than the largest. */
    TOO_LARGE,
    /** Nobody is registered for the type there. */
    NO_RECEIVER,
    /** The type means something else there, or its bytes could not be read. */
    TYPE_MISMATCH,
    /** The request handler threw. */
    REMOTE_ERROR,
    /** The other node refuses: key, version, cluster, or the id is in use. */
    REFUSED,
    /** This node is closed. */
    CLOSED
  }

  private final Code code;

  /** Tells why, and the detail. */
  public MessagingException(Code code, String detail) {
    super(code + ": " + detail);
    this.code = code;
  }

  /** Why. */
  public Code code() {
    return code;
  }
}

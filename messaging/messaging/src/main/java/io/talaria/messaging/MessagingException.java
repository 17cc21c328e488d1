// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.io.IOException;

/**
 * Thrown when a message was not sent or a request got no response; {@link #code} gives the reason.
 */
public final class MessagingException extends IOException {
  private static final long serialVersionUID = 1L;

  /** The reason. */
  public enum Code {
    /** The node is not known, no node answers at its address, or it refuses the connection. */
    UNREACHABLE,
    /** The connection ended; whether the message arrived is not known. */
    LOST,
    /** The timeout has passed. */
    TIMED_OUT,
    /** The request was cancelled, or the thread was interrupted. */
    CANCELLED,
    /** There is no room: the receiver is too slow at the moment, or too many requests are open. */
    BACK_PRESSURED,
    /** The message is larger than the maximum. */
    TOO_LARGE,
    /** The other node has no receiver for the type. */
    NO_RECEIVER,
    /** The other node has a different type of this name, or could not read the bytes. */
    TYPE_MISMATCH,
    /** The request handler threw, or gave no response. */
    REMOTE_ERROR,
    /** The other node refuses the connection: key, version, cluster, or the id is in use. */
    REFUSED,
    /** This node is closed. */
    CLOSED
  }

  private final Code code;

  /**
   * Creates an exception.
   *
   * @param code the reason
   * @param detail what happened, for people
   */
  public MessagingException(Code code, String detail) {
    super(code + ": " + detail);
    this.code = code;
  }

  /** The reason. */
  public Code code() {
    return code;
  }
}

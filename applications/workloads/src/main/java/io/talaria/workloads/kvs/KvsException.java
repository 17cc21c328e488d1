// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

/** A call of the key-value store that failed; the message is meant for the user. */
public final class KvsException extends Exception {
  private static final long serialVersionUID = 1L;

  /** What went wrong. */
  public enum Reason {
    /** There is no record of that key. */
    NOT_FOUND,
    /** There is a record of that key already. */
    EXISTS,
    /** The server refuses the request as it is. */
    REFUSED,
    /** The server does not answer. */
    LOST
  }

  private final Reason reason;

  /**
   * Creates the exception.
   *
   * @param reason what went wrong
   * @param message the same in words
   * @param cause what the library said
   */
  public KvsException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** Returns what went wrong. */
  public Reason reason() {
    return reason;
  }
}

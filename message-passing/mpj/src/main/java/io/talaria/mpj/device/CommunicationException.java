// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

/**
 * A message, or a collective operation of messages, that failed. Thrown by devices, the engine and
 * the collectives; the API on top of them throws its own exception instead.
 */
public class CommunicationException extends RuntimeException {
  /** What is wrong. */
  public enum Kind {
    /** Two sides of a message have different counts. */
    COUNT,
    /** Types that do not match, or elements that cannot be serialized. */
    TYPE,
    /** An operation of a reduction that is not defined for the elements. */
    OPERATION,
    /** A bad argument. */
    ARGUMENT,
    /** Elements that are not in the window of the target. */
    RANGE,
    /** A message that is longer than its receive. */
    TRUNCATED,
    /** The program's code or memory failed; the cause says how. */
    PROGRAM,
    /** A rank that has ended or cannot be reached. */
    RANK_GONE,
    /** A communicator that a rank has revoked. */
    REVOKED,
    /** Ranks that do different things. */
    DISAGREEMENT,
    /** A thread of the device or the engine that has ended; the cause says why. */
    THREAD
  }

  private static final long serialVersionUID = 1;

  private final Kind kind;

  /**
   * Without a cause.
   *
   * @param kind what is wrong
   * @param message the same in words, for the program
   */
  public CommunicationException(Kind kind, String message) {
    this(kind, message, null);
  }

  /**
   * With a cause.
   *
   * @param kind what is wrong
   * @param message the same in words, for the program
   * @param cause why, or null
   */
  public CommunicationException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /** What is wrong. */
  public final Kind kind() {
    return kind;
  }
}

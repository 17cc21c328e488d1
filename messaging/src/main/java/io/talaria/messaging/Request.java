// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * A request that wants one response. Any thread; none of the methods waits. It may be kept and
 * answered after its request handler has returned; if it is thrown away, whoever asked gets
 * REMOTE_ERROR when the garbage collector finds that.
 */
public interface Request {
  /** Who asks. */
  Peer from();

  /**
   * Responds. The object is the caller's again when this returns.
   *
   * @throws IllegalStateException if it was answered before
   * @throws IllegalArgumentException if the type of the response is not registered
   */
  void respond(Object response);

  /**
   * Refuses to answer: whoever asked gets REMOTE_ERROR with this text.
   *
   * @throws IllegalStateException if it was answered before
   */
  void fail(String text);

  /** Whether whoever asked does not wait any more, as far as is known here. */
  boolean cancelled();

  /** How long whoever asked still waits, in nanoseconds, as far as is known here. */
  long remainingNs();
}

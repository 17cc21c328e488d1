// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * A received request, to which the program responds once. All methods may be called by any thread,
 * and none waits. The program may keep a request and respond after the request handler has
 * returned. If it drops the request without a response, the requester gets REMOTE_ERROR when the
 * garbage collector finds that.
 */
public interface Request {
  /** The node that sent the request. */
  Peer from();

  /**
   * Sends the response. When this returns, the caller may change the object.
   *
   * @throws IllegalStateException if the request was answered before
   * @throws IllegalArgumentException if the type of the response is not registered
   */
  void respond(Object response);

  /**
   * Ends the request without a response: the requester gets REMOTE_ERROR with this text.
   *
   * @throws IllegalStateException if the request was answered before
   */
  void fail(String text);

  /**
   * Whether this node knows that the requester no longer waits: it has cancelled, or its timeout
   * has passed.
   */
  boolean cancelled();

  /**
   * How long the requester still waits, in nanoseconds, as this node estimates it; {@code
   * Long.MAX_VALUE} if its timeout is longer than 35 minutes.
   */
  long remainingNs();
}

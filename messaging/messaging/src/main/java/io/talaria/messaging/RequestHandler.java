// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Handles the requests of one type.
 *
 * @param <Q> the type of the requests
 */
@FunctionalInterface
public interface RequestHandler<Q> {
  /**
   * Handles a request. The response may be sent here, or later by any thread.
   *
   * @throws Exception of any kind: the requester gets REMOTE_ERROR with its class and text
   */
  void handle(Q message, Request request) throws Exception;
}

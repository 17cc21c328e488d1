// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/**
 * The future response to a request. All methods may be called by any thread, but the response can
 * be taken only once: by {@link #await} or by {@link #whenDone}. A response that is never taken
 * stays in this object until the object is collected.
 *
 * @param <A> the type of the response
 */
public interface ResponseFuture<A> {
  /** Whether the request has ended, with a response or a failure. Once true, it stays true. */
  boolean isDone();

  /**
   * Waits for the response and takes it.
   *
   * @param timeout how long to wait; the request continues when it has passed
   * @return the response, or null if the timeout has passed first
   * @throws MessagingException with the reason if the request ended without a response
   * @throws IllegalStateException in an INLINE receiver, or if another call has taken the response
   *     or cancelled the request
   */
  A await(Duration timeout) throws MessagingException;

  /**
   * Cancels the request and tells the request handler.
   *
   * @return false if the request had already ended
   */
  boolean cancel();

  /**
   * Passes the response or the failure to a consumer once the request has ended.
   *
   * @param executor runs the consumer, and must not wait: a handler of the node calls it, or a
   *     virtual thread when the node closes and later; if it refuses, the response is dropped and
   *     {@link NodeListener#failed} is called
   * @param consumer gets the response or the failure, the other is null; what it throws goes to
   *     {@link NodeListener#failed}
   */
  void whenDone(Executor executor, BiConsumer<? super A, ? super MessagingException> consumer);
}

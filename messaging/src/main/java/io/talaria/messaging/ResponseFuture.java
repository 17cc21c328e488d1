// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/**
 * A request under way. Any thread, but its response is taken once: by {@link #await} or by {@link
 * #whenDone}. A response that is not taken stays here, and goes with this object.
 *
 * @param <A> the type of the response
 */
public interface ResponseFuture<A> {
  /** Whether there is a response or a failure; never false again. */
  boolean isDone();

  /**
   * Waits for the response.
   *
   * @param timeout how long at most; the request itself goes on after that
   * @return the response, or null if the timeout has passed first
   * @throws MessagingException if there is none, with the reason
   * @throws IllegalStateException on the poller, in an INLINE receiver; or if it was taken before
   */
  A await(Duration timeout) throws MessagingException;

  /** Waits no more and tells the request handler; false if it was done already. */
  boolean cancel();

  /**
   * Has the response taken when it is there.
   *
   * @param executor where; if it refuses, the response is dropped, and {@link NodeListener#failed}
   *     told
   * @param consumer gets the response or the failure, the other is null; what it throws is told to
   *     {@link NodeListener#failed}
   */
  void whenDone(Executor executor, BiConsumer<? super A, ? super MessagingException> consumer);
}

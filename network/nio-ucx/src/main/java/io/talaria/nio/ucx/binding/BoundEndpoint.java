// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.binding;

import java.util.List;

/** A UCX endpoint, which obeys its worker's rule of threads. */
public interface BoundEndpoint {
  /**
   * Whether no thread has begun to close it.
   *
   * @return whether it is open
   */
  boolean isOpen();

  /**
   * Sends bytes; they arrive in order, after those of earlier calls.
   *
   * @param block memory, UCX's until the request is done
   * @param length how many bytes from its beginning; at least 1
   * @return 0: the memory may be used again; a request; or a negative status: the endpoint has
   *     failed
   */
  long sendStream(Block block, int length);

  /**
   * Takes received bytes.
   *
   * @param place where to put them; it must be empty
   * @return how many there are now; 0: none; a negative status: the endpoint has failed
   */
  long receiveStream(Received place);

  /**
   * Sends a message.
   *
   * @param block memory, UCX's until the request is done
   * @param length how many bytes from its beginning; may be 0
   * @param tag any number
   * @return 0, a request, or a negative status
   */
  long sendTag(Block block, int length, long tag);

  /**
   * The transports in use, such as {@code posix/memory}, if the binding {@linkplain
   * UcxBinding#tellsTransports knows}; else those that may be.
   *
   * @return names without repetition, perhaps none
   */
  List<String> transports();

  /**
   * Waits for what was sent before.
   *
   * @return 0: it has arrived; a request, which is done when it has; or a negative status
   */
  long flush();

  /**
   * Begins to close without regard to the peer: what is under way may be lost. It is closed for the
   * program at once; UCX's memory for it is free some progress later.
   *
   * @return 0, a request, or a negative status
   */
  long closeForced();
}

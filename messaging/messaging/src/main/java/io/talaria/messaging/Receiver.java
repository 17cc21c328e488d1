// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Receives the messages of one type.
 *
 * @param <T> the type
 */
@FunctionalInterface
public interface Receiver<T> {
  /**
   * Receives a message, on the thread that the {@link Dispatch} of the registration selects.
   *
   * @param message the receiver may keep it, unless {@link NodeOptions#reuse} was set for the type
   * @param from the sender
   * @throws Exception of any kind: the node counts it and reports it to {@link
   *     NodeListener#failed}, and delivers the next message
   */
  void receive(T message, Peer from) throws Exception;
}

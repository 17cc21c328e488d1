// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Takes messages of one type.
 *
 * @param <T> the type
 */
@FunctionalInterface
public interface Receiver<T> {
  /**
   * Takes a message.
   *
   * @param message of the receiver's own, unless {@link NodeOptions#reuse} said otherwise
   * @param from who has sent it
   * @throws Exception of any kind: it is counted and told, and the next message comes
   */
  void receive(T message, Peer from) throws Exception;
}

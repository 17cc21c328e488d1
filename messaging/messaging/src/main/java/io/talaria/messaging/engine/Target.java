// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Dispatch;

/**
 * The registered receiver of a type's messages, or handler of its requests.
 *
 * @param <T> a receiver or a request handler
 */
final class Target<T> {
  /** Its index among all targets of the node. */
  final int index;

  final Dispatch dispatch;
  final T taker;

  /** The inbox for the messages of all nodes, of SERIAL and CONCURRENT; else null. */
  Inbox shared;

  Target(int index, Dispatch dispatch, T taker) {
    this.index = index;
    this.dispatch = dispatch;
    this.taker = taker;
  }
}

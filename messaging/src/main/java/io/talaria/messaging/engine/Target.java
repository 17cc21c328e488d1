// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Dispatch;

/**
 * Who takes messages or requests of a type.
 *
 * @param <T> a receiver or a request handler
 */
final class Target<T> {
  /** Its place among all targets of the node. */
  final int index;

  final Dispatch dispatch;
  final T taker;

  /** Of all nodes: SERIAL and CONCURRENT. */
  Inbox shared;

  Target(int index, Dispatch dispatch, T taker) {
    this.index = index;
    this.dispatch = dispatch;
    this.taker = taker;
  }
}

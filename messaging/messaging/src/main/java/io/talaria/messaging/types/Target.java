// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.types;

import io.talaria.messaging.Dispatch;

/**
 * The registered receiver of a type's messages, or handler of its requests.
 *
 * @param <T> a receiver or a request handler
 */
public final class Target<T> {
  /** Its index among all targets of the node. */
  public final int index;

  public final Dispatch dispatch;
  public final T taker;

  Target(int index, Dispatch dispatch, T taker) {
    this.index = index;
    this.dispatch = dispatch;
    this.taker = taker;
  }
}

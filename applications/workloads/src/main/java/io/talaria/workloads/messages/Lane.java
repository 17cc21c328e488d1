// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** What one of several sending threads of a {@link Wire} has. */
interface Lane {
  /** How a thread waits for room that shares its core with others. */
  IdleStrategy YIELD = YieldingIdleStrategy.INSTANCE;

  /** Sends an object; it may wait in a batch. */
  void send(Object message) throws Exception;

  /** Sends what waits. */
  default void flush() {}
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** Sends objects to another JVM. For one thread. */
interface ObjectSender {
  /** How one of several threads waits for room. */
  IdleStrategy YIELD = YieldingIdleStrategy.INSTANCE;

  /** Sends an object; it may wait in a batch. */
  void send(Object message) throws Exception;

  /** Sends what waits. */
  default void flush() {}
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

/** Sends objects to another JVM. For one thread. */
public interface ObjectSender {
  /** Sends an object; it may wait in a batch. */
  void send(Object message) throws Exception;

  /** Sends what waits. */
  default void flush() {}
}

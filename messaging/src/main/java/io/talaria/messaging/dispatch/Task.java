// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

/** Something for a handler thread: runs for a bounded time. What it throws is told. */
public interface Task {
  /** Runs one turn. */
  void turn();
}

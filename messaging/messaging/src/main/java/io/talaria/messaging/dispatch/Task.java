// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

/** A piece of work for a handler thread, of bounded duration. What it throws is reported. */
public interface Task {
  /** Does the work. */
  void turn();

  /** Whether it must run even if it is submitted when the handlers stop, or later. */
  default boolean outlivesHandlers() {
    return false;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/** What happened to a counter between two readings. */
public enum Change {
  /** It counted; the difference is right. */
  COUNTED,
  /** It fell: it was reset. How much it counted since is not known; the next interval is. */
  RESET,
  /** It stands at its maximum and does not count until it is reset. */
  STUCK,
  /** One of the readings has no value, or no time passed. */
  UNKNOWN
}

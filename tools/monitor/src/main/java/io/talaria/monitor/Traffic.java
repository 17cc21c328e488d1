// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/** Whether a counter has all that a port sent, or received. */
public enum Traffic {
  /** All that the port sent. */
  SENT,
  /** All that the port received. */
  RECEIVED,
  /** Neither: a part of it, or something else. */
  NONE
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/** What a counter is about. */
public enum CounterKind {
  /** Bytes carried. */
  DATA,
  /** Packets carried. */
  PACKETS,
  /** What should not happen: lost, damaged, repeated, refused. */
  ERRORS,
  /** Waiting, and the signs of it. */
  CONGESTION,
  /** Anything else, and counters whose meaning is not known. */
  OTHER;

  /**
   * Its name for machines.
   *
   * @return lower case
   */
  public String code() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/** What one of a counter's units is, after {@link Counter#factor()}. */
public enum CounterUnit {
  /** Bytes. */
  BYTES,
  /** Packets. */
  PACKETS,
  /** Events. */
  EVENTS,
  /** Ticks of the port's own clock, whose length differs from device to device. */
  TICKS,
  /** Not known. */
  UNKNOWN;

  /**
   * Its name for machines.
   *
   * @return lower case
   */
  public String code() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/** Where a counter is read. */
public enum CounterSource {
  /** {@code ports/N/counters}: what InfiniBand's PortCounters have. */
  COUNTERS("counters"),
  /** {@code ports/N/counters_ext} of old kernels: the same in 64 bits. */
  COUNTERS_EXT("counters_ext"),
  /** {@code ports/N/hw_counters}: what the device counts besides. */
  HW_COUNTERS("hw_counters"),
  /** {@code hw_counters} of the device: for all its ports together. */
  DEVICE("device"),
  /** {@code statistics} of a network interface. */
  NET("net"),
  /** A performance query to a port of the fabric, 32 bits and less. */
  PMA("pma"),
  /** A performance query to a port of the fabric, 64 bits. */
  PMA_EXTENDED("pma_extended");

  private final String code;

  CounterSource(String code) {
    this.code = code;
  }

  /**
   * Its name for machines.
   *
   * @return lower case
   */
  public String code() {
    return code;
  }
}

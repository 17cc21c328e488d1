// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

/** How a program waits for its peer. */
enum WaitStrategy {
  /** In a blocking read. */
  BLOCKING("blocking"),
  /** In a loop around {@code selectNow()}, iterating over the selected keys. */
  SELECT_NOW("selectNow"),
  /** In a loop around {@code selectNow(Consumer)}. */
  SELECT_NOW_CONSUMER("selectNow(Consumer)"),
  /** In {@code select()}, iterating over the selected keys. */
  SELECT("select");

  private final String word;

  WaitStrategy(String word) {
    this.word = word;
  }

  String word() {
    return word;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.netty;

import java.util.List;
import java.util.Locale;

/** What {@code bench netty} measures. */
enum NettyPattern {
  /** Messages one way. */
  THROUGHPUT,
  /** Round trips. */
  PING_PONG,
  /** Round trips on ever more connections. */
  SCALING;

  /** Returns the lengths of messages if the user names none. */
  List<Integer> sizes() {
    return this == SCALING ? List.of(16) : List.of(16, 1 << 10, 64 << 10);
  }

  /** Returns the numbers of connections if the user names none. */
  List<Integer> connections() {
    return this == SCALING ? List.of(1, 8, 64, 512) : List.of(1);
  }

  /** Returns the word that users write. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}

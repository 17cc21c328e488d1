// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import java.util.Locale;

/** What is measured of an operation. */
public enum Kind {
  /** How long one takes: there and back, or until it is done where the peer does not answer. */
  LATENCY,
  /** How many a second, with several in flight. */
  THROUGHPUT;

  /** Returns the name for users. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}

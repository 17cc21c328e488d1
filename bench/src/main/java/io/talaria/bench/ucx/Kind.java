// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/** What is measured of an operation. */
public enum Kind {
  /** How long one takes: there and back, or until it is done where the peer does not answer. */
  LATENCY("latency"),
  /** How many a second, with up to {@link Side#WINDOW} in flight. */
  THROUGHPUT("throughput");

  private final String word;

  Kind(String word) {
    this.word = word;
  }

  /** Returns the name for users. */
  String word() {
    return word;
  }
}

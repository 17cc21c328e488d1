// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

/** What {@code bench messages} measures. */
enum MessagesPattern {
  /** Objects one way. */
  THROUGHPUT("throughput"),
  /** A question and its answer. */
  ASK("ask");

  private final String word;

  MessagesPattern(String word) {
    this.word = word;
  }

  /** Returns the word that users write. */
  @Override
  public String toString() {
    return word;
  }
}

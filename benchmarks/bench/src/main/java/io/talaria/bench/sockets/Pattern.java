// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/** What is measured; the words of {@code --patterns}. */
enum Pattern {
  BLOCKING("blocking"),
  SELECT_NOW("selectNow"),
  SELECT("select"),
  ONEWAY("oneway"),
  IDLE("idle"),
  MANY("many"),
  ALLOC("alloc"),
  SCALE("scale"),
  WAKE("wake"),
  COLD("cold");

  private final String word;

  Pattern(String word) {
    this.word = word;
  }

  /** Returns the word that stands for it on the command line and in JSON. */
  String word() {
    return word;
  }

  /** Returns what is measured by default: all that takes seconds and runs on defaults. */
  static Set<Pattern> usual() {
    return EnumSet.complementOf(EnumSet.of(SCALE, WAKE, COLD));
  }

  /**
   * Returns the pattern of a word; case does not matter.
   *
   * @throws IllegalArgumentException if there is none, with all the words
   */
  static Pattern of(String word) {
    for (Pattern pattern : values()) {
      if (pattern.word.equalsIgnoreCase(word)) {
        return pattern;
      }
    }
    throw new IllegalArgumentException("'" + word + "' is no pattern; there are: " + allWords());
  }

  static String allWords() {
    return Arrays.stream(values()).map(Pattern::word).collect(Collectors.joining(", "));
  }
}

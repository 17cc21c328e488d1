// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.config;

import java.util.List;

/** Finds the known name that a misspelled name was meant to be. */
final class Nearest {
  private static final int SHORT = 12;

  private Nearest() {}

  /**
   * The known name with the fewest letters added, left out or exchanged, if they are so few that it
   * may be meant: two, or three of a long name.
   *
   * @return the name, or null
   */
  static String to(String wrong, List<String> known) {
    String nearest = null;
    int fewest = 1 + (wrong.length() <= SHORT ? 2 : 3);
    for (String name : known) {
      int changes = changes(wrong, name);
      if (changes < fewest) {
        fewest = changes;
        nearest = name;
      }
    }
    return nearest;
  }

  /** Levenshtein's distance. */
  private static int changes(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int exchanged = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(exchanged, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[to.length()];
  }
}

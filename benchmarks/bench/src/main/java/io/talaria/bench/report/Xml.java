// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import java.util.Locale;

/** Text for XML. */
final class Xml {
  private Xml() {}

  /**
   * Returns text as it may stand between tags and in attributes; control characters are left out.
   */
  static String text(String raw) {
    StringBuilder out = new StringBuilder();
    raw.codePoints()
        .filter(c -> c >= ' ' || c == '\n' || c == '\t')
        .forEach(
            c -> {
              switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                default -> out.appendCodePoint(c);
              }
            });
    return out.toString();
  }

  /** Returns a coordinate. */
  static String at(double coordinate) {
    return String.format(Locale.ROOT, "%.1f", coordinate);
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Lines of comma-separated values, quoted where RFC 4180 asks for it. */
final class Csv {
  private Csv() {}

  /** Returns a line of cells with its end. */
  static String line(List<String> cells) {
    return cells.stream().map(Csv::quoted).collect(Collectors.joining(",", "", "\n"));
  }

  private static String quoted(String cell) {
    boolean needed = cell.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return needed ? '"' + cell.replace("\"", "\"\"") + '"' : cell;
  }

  /** Returns the cells of all lines of a text; a quotation that never ends takes the rest. */
  static List<List<String>> parse(String text) {
    List<List<String>> lines = new ArrayList<>();
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean inQuotes = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean doubled = c == '"' && i + 1 < text.length() && text.charAt(i + 1) == '"';
      if (inQuotes && doubled) {
        cell.append('"');
        i++;
      } else if (c == '"') {
        inQuotes = !inQuotes;
      } else if (inQuotes || (c != ',' && c != '\n' && c != '\r')) {
        cell.append(c);
      } else if (c != '\r') {
        cells.add(cell.toString());
        cell.setLength(0);
        if (c == '\n') {
          lines.add(cells);
          cells = new ArrayList<>();
        }
      }
    }
    if (!cells.isEmpty() || !cell.isEmpty()) {
      cells.add(cell.toString());
      lines.add(cells);
    }
    return lines;
  }
}

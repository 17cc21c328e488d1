// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A table in plain text: columns as wide as their widest cell, separated by two spaces. Not for use
 * by several threads.
 */
public final class Table {
  private final List<String> header;
  private final boolean[] right;
  private final List<List<String>> rows = new ArrayList<>();

  /**
   * Creates an empty table.
   *
   * @param header the headings; one that starts with {@code >} heads a column aligned to the right
   */
  public Table(String... header) {
    this.right = new boolean[header.length];
    List<String> names = new ArrayList<>();
    for (int i = 0; i < header.length; i++) {
      right[i] = header[i].startsWith(">");
      names.add(right[i] ? header[i].substring(1) : header[i]);
    }
    this.header = List.copyOf(names);
  }

  /**
   * Adds a row.
   *
   * @param cells as many as there are headings
   * @return this table
   */
  public Table row(String... cells) {
    if (cells.length != header.size()) {
      throw new IllegalArgumentException(
          "row of " + cells.length + " cells in a table of " + header.size() + " columns");
    }
    rows.add(List.of(cells));
    return this;
  }

  /** Adds a thin line between rows. */
  public Table line() {
    rows.add(List.of());
    return this;
  }

  /** Returns whether there is no row yet. */
  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Returns how many characters its lines have. */
  public int width() {
    return total(widths());
  }

  /** Returns the table as lines, each ended by a line feed. */
  public String render() {
    int[] widths = widths();
    StringBuilder out = new StringBuilder();
    append(out, widths, header);
    String rule = "─".repeat(total(widths)) + "\n";
    out.append(rule);
    for (List<String> row : rows) {
      if (row.isEmpty()) {
        out.append(rule);
      } else {
        append(out, widths, row);
      }
    }
    return out.toString();
  }

  private int[] widths() {
    int[] widths = new int[header.size()];
    measure(widths, header);
    rows.forEach(row -> measure(widths, row));
    return widths;
  }

  private static int total(int[] widths) {
    return Arrays.stream(widths).sum() + 2 * (widths.length - 1);
  }

  private static void measure(int[] widths, List<String> cells) {
    for (int i = 0; i < cells.size(); i++) {
      widths[i] = Math.max(widths[i], width(cells.get(i)));
    }
  }

  private void append(StringBuilder out, int[] widths, List<String> cells) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      String gap = " ".repeat(widths[i] - width(cells.get(i)));
      line.append(i == 0 ? "" : "  ");
      line.append(right[i] ? gap + cells.get(i) : cells.get(i) + gap);
    }
    out.append(line.toString().stripTrailing()).append('\n');
  }

  private static int width(String cell) {
    return cell.codePointCount(0, cell.length());
  }
}

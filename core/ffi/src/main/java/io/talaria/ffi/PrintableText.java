// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

/**
 * Text of another process, host or device, made fit for screens, logs, files and labels: no control
 * characters, no escape sequences, nothing that changes the direction of writing.
 */
public final class PrintableText {
  private PrintableText() {}

  /**
   * Replaces what is no letter, mark, number, punctuation, symbol or blank.
   *
   * @param text any text
   * @return the same, each such character as {@code ?}
   */
  public static String of(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints().forEach(point -> out.appendCodePoint(isPrintable(point) ? point : '?'));
    return out.toString();
  }

  private static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}

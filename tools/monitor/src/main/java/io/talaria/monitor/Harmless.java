// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import io.talaria.ffi.PrintableText;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Names and descriptions from another source, made fit for screens, files and labels: {@link
 * PrintableText} without surrounding blanks.
 */
public final class Harmless {
  /** What a node may say of itself (IBTA, NodeDescription). */
  public static final int MAX_BYTES = 64;

  private Harmless() {}

  /**
   * Reads a description.
   *
   * @param bytes up to {@link #MAX_BYTES} of them are read, up to the first that is 0; UTF-8, or
   *     else Latin-1
   * @return a text without surrounding blanks
   */
  public static String text(byte[] bytes) {
    int length = 0;
    while (length < Math.min(bytes.length, MAX_BYTES) && bytes[length] != 0) {
      length++;
    }
    CharBuffer decoded;
    try {
      decoded = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, 0, length));
    } catch (CharacterCodingException e) {
      decoded = StandardCharsets.ISO_8859_1.decode(ByteBuffer.wrap(bytes, 0, length));
    }
    return text(decoded.toString());
  }

  /**
   * Replaces what is not harmless.
   *
   * @param text any text
   * @return the same without surrounding blanks, each such character as {@code ?}
   */
  public static String text(String text) {
    return PrintableText.of(text).strip();
  }
}

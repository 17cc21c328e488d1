// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a size in bytes: a number, with K or M for binary multiples. */
public final class SizeConverter implements ITypeConverter<Integer> {
  private static final int MAX_BYTES = 16 << 20;

  /** Creates the converter; picocli does. */
  public SizeConverter() {}

  @Override
  public Integer convert(String text) {
    String digits = text.strip().toUpperCase(Locale.ROOT);
    int shift = digits.endsWith("K") ? 10 : digits.endsWith("M") ? 20 : 0;
    try {
      long value =
          Long.parseLong(shift == 0 ? digits : digits.substring(0, digits.length() - 1)) << shift;
      if (value >= 1 && value <= MAX_BYTES) {
        return (int) value;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new TypeConversionException(
        "'" + text + "' is no size; use a number of bytes from 1 to 16M, such as 16 or 64K");
  }
}

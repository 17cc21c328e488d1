// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * The output to which a {@link Codec} writes one message, little-endian. Writing more than {@link
 * Codec#size} bytes throws an {@link IndexOutOfBoundsException}. Valid only during one call of
 * {@link Codec#write}, on its thread.
 */
public interface MessageWriter {
  /** Writes 1 byte. */
  void putByte(byte value);

  /** Writes 1 byte, 0 or 1. */
  void putBoolean(boolean value);

  /** Writes 2 bytes. */
  void putShort(short value);

  /** Writes 2 bytes. */
  void putChar(char value);

  /** Writes 4 bytes. */
  void putInt(int value);

  /** Writes 8 bytes. */
  void putLong(long value);

  /** Writes 4 bytes. */
  void putFloat(float value);

  /** Writes 8 bytes. */
  void putDouble(double value);

  /** Writes a number in 1 to 5 bytes. Numbers near zero are short, negative ones too. */
  void putVarInt(int value);

  /** Writes a number in 1 to 10 bytes. Numbers near zero are short, negative ones too. */
  void putVarLong(long value);

  /** Writes a length, which must not be negative, in 1 to 5 bytes. */
  void putLength(int length);

  /** Writes a length and the string in UTF-8. An unpaired surrogate becomes a question mark. */
  void putString(String value);

  /** Writes a length and the bytes. */
  void putBytes(byte[] value);

  /** Writes a length and the elements. */
  void putBooleans(boolean[] value);

  /** Writes a length and the elements. */
  void putShorts(short[] value);

  /** Writes a length and the elements. */
  void putChars(char[] value);

  /** Writes a length and the elements. */
  void putInts(int[] value);

  /** Writes a length and the elements. */
  void putLongs(long[] value);

  /** Writes a length and the elements. */
  void putFloats(float[] value);

  /** Writes a length and the elements. */
  void putDoubles(double[] value);

  /** The number of bytes that may still be written. */
  int remaining();

  /** The number of bytes that {@link #putVarInt} writes. */
  static int sizeOfVarInt(int value) {
    return sizeOfLength(value << 1 ^ value >> 31);
  }

  /** The number of bytes that {@link #putVarLong} writes. */
  static int sizeOfVarLong(long value) {
    long folded = value << 1 ^ value >> 63;
    return folded == 0 ? 1 : (70 - Long.numberOfLeadingZeros(folded)) / 7;
  }

  /** The number of bytes that {@link #putLength} writes. */
  static int sizeOfLength(int length) {
    return length == 0 ? 1 : (38 - Integer.numberOfLeadingZeros(length)) / 7;
  }

  /** The number of bytes that {@link #putString} writes. */
  static int sizeOfString(String value) {
    int bytes = utf8Bytes(value);
    return sizeOfLength(bytes) + bytes;
  }

  /** The number of bytes of a string in UTF-8. */
  static int utf8Bytes(String value) {
    int length = value.length();
    int bytes = length;
    for (int i = 0; i < length; i++) {
      char c = value.charAt(i);
      if (c >= 0x80) {
        if (c < 0x800) {
          bytes++;
        } else if (!Character.isSurrogate(c)) {
          bytes += 2;
        } else if (Character.isHighSurrogate(c)
            && i + 1 < length
            && Character.isLowSurrogate(value.charAt(i + 1))) {
          bytes += 2; // four bytes for two chars
          i++;
        }
      }
    }
    return bytes;
  }

  /**
   * The number of bytes of an array with its length.
   *
   * @param length number of elements
   * @param elementBytes size of an element, in bytes
   * @throws IllegalArgumentException if the result does not fit into an int
   */
  static int sizeOfArray(int length, int elementBytes) {
    long bytes = sizeOfLength(length) + (long) length * elementBytes;
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("an array of " + length + " elements is too large");
    }
    return (int) bytes;
  }
}

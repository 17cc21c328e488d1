// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Where a {@link Codec} writes. Ends where {@link Codec#size} said; writing more throws an {@link
 * IndexOutOfBoundsException}. Little-endian. For the time and the thread of one call of {@link
 * Codec#write}.
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

  /** Writes a number in as few bytes as it needs, 1 to 5: small ones, negative too, are short. */
  void putVarInt(int value);

  /** Writes a number in as few bytes as it needs, 1 to 10. */
  void putVarLong(long value);

  /** Writes a length, from 0 on, in 1 to 5 bytes. */
  void putLength(int length);

  /** Writes a length and the text in UTF-8; a surrogate alone becomes a question mark. */
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

  /** Bytes that may still be written. */
  int remaining();

  /** What {@link #putVarInt} will write, in bytes. */
  static int sizeOfVarInt(int value) {
    return sizeOfLength(value << 1 ^ value >> 31);
  }

  /** What {@link #putVarLong} will write, in bytes. */
  static int sizeOfVarLong(long value) {
    long folded = value << 1 ^ value >> 63;
    return folded == 0 ? 1 : (70 - Long.numberOfLeadingZeros(folded)) / 7;
  }

  /** What {@link #putLength} will write, in bytes. */
  static int sizeOfLength(int length) {
    return length == 0 ? 1 : (38 - Integer.numberOfLeadingZeros(length)) / 7;
  }

  /** What {@link #putString} will write, in bytes. */
  static int sizeOfString(String value) {
    int bytes = utf8Bytes(value);
    return sizeOfLength(bytes) + bytes;
  }

  /** How many bytes a text has in UTF-8. */
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
          bytes += 2; // four bytes for two characters
          i++;
        }
      }
    }
    return bytes;
  }

  /**
   * What an array will take, in bytes.
   *
   * @param length number of elements
   * @param elementBytes size of one
   * @throws IllegalArgumentException if that is more than an int
   */
  static int sizeOfArray(int length, int elementBytes) {
    long bytes = sizeOfLength(length) + (long) length * elementBytes;
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("an array of " + length + " elements is too large");
    }
    return (int) bytes;
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * The input from which a {@link Codec} reads one message. Reading beyond the end of the message
 * throws a {@link MalformedMessageException}, and so does a length larger than what is left, before
 * anything is allocated. Valid only during one call of {@link Codec#read}, on its thread.
 */
public interface MessageReader {
  /** Reads 1 byte. */
  byte getByte();

  /** Reads 1 byte, which must be 0 or 1. */
  boolean getBoolean();

  /** Reads 2 bytes. */
  short getShort();

  /** Reads 2 bytes. */
  char getChar();

  /** Reads 4 bytes. */
  int getInt();

  /** Reads 8 bytes. */
  long getLong();

  /** Reads 4 bytes. */
  float getFloat();

  /** Reads 8 bytes. */
  double getDouble();

  /** Reads what {@link MessageWriter#putVarInt} wrote. */
  int getVarInt();

  /** Reads what {@link MessageWriter#putVarLong} wrote. */
  long getVarLong();

  /**
   * Reads a length, and checks that the message has enough bytes left for that many elements.
   *
   * @param elementBytes the least number of bytes an element has, at least 1
   */
  int getLength(int elementBytes);

  /**
   * Reads what {@link MessageWriter#putLength} wrote where the number is an index and not a length,
   * and so must not be checked against the bytes that are left.
   */
  int getVarUnsigned();

  /** Reads a length and a string in UTF-8. */
  String getString();

  /** Reads a length and the elements. */
  byte[] getBytes();

  /** Reads a length and the elements. */
  boolean[] getBooleans();

  /** Reads a length and the elements. */
  short[] getShorts();

  /** Reads a length and the elements. */
  char[] getChars();

  /** Reads a length and the elements. */
  int[] getInts();

  /** Reads a length and the elements. */
  long[] getLongs();

  /** Reads a length and the elements. */
  float[] getFloats();

  /** Reads a length and the elements. */
  double[] getDoubles();

  /** The number of bytes that are left. */
  int remaining();

  /**
   * Enters a nested object. Throws a {@link MalformedMessageException} at more than 64 levels, so
   * that a message cannot overflow the stack.
   */
  void enter();

  /** Leaves a nested object. */
  void leave();
}

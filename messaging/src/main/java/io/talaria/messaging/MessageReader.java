// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Where a {@link Codec} reads. Ends where the message ends; reading more throws a {@link
 * MalformedMessageException}, and so does a length that is larger than what is left, before
 * anything is allocated. For the time and the thread of one call of {@link Codec#read}.
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
   * Reads the length of what has at least so many bytes an element.
   *
   * @param elementBytes at least 1
   */
  int getLength(int elementBytes);

  /**
   * Reads what {@link MessageWriter#putLength} wrote, when it is an index and not the length of
   * anything.
   */
  int getVarUnsigned();

  /** Reads a text. */
  String getString();

  /** Reads an array. */
  byte[] getBytes();

  /** Reads an array. */
  boolean[] getBooleans();

  /** Reads an array. */
  short[] getShorts();

  /** Reads an array. */
  char[] getChars();

  /** Reads an array. */
  int[] getInts();

  /** Reads an array. */
  long[] getLongs();

  /** Reads an array. */
  float[] getFloats();

  /** Reads an array. */
  double[] getDoubles();

  /** Bytes that are left. */
  int remaining();

  /** Enters an object inside an object; more than 64 inside one another are refused. */
  void enter();

  /** Leaves it. */
  void leave();
}

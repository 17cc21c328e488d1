// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Messages that say what they must be: each is a whole {@link Pattern} of its own. */
public final class Blob {
  private Blob() {}

  /**
   * Makes a message.
   *
   * @param seed makes it different from others
   * @param lengthBytes its length, at least {@link Pattern#HEADER_BYTES}
   * @return the message
   */
  public static byte[] make(long seed, int lengthBytes) {
    byte[] blob = new byte[lengthBytes];
    new Pattern(seed, lengthBytes).fill(ByteBuffer.wrap(blob), 0);
    return blob;
  }

  /**
   * Checks each byte of a message.
   *
   * @param blob the message
   * @return its seed
   * @throws IllegalStateException if its length or any byte is not right
   */
  public static long check(byte[] blob) {
    if (blob.length < Pattern.HEADER_BYTES) {
      throw new IllegalStateException("a message of " + blob.length + " bytes");
    }
    ByteBuffer header = ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN);
    long seed = header.getLong();
    long lengthBytes = header.getLong();
    if (lengthBytes != blob.length) {
      throw new IllegalStateException(
          "a message of " + lengthBytes + " bytes arrived with " + blob.length);
    }
    new Pattern(seed, lengthBytes).check(ByteBuffer.wrap(blob), 0);
    return seed;
  }

  /**
   * Checks a message and that it is the one expected.
   *
   * @param blob the message
   * @param seed the seed it was made with
   * @param lengthBytes the length it was made with
   * @throws IllegalStateException if it is not
   */
  public static void check(byte[] blob, long seed, int lengthBytes) {
    long found = check(blob);
    if (found != seed || blob.length != lengthBytes) {
      throw new IllegalStateException(
          String.format(
              "expected message %d of %d bytes, got message %d of %d",
              seed, lengthBytes, found, blob.length));
    }
  }
}

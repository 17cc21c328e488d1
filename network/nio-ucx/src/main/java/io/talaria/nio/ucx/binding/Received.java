// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.binding;

import java.nio.ByteBuffer;

/**
 * Received bytes of a stream where UCX has put them, until {@link #release}. Used again and again.
 * Obeys the worker's rule of threads. Reading beyond the bytes throws {@link
 * IndexOutOfBoundsException}.
 */
public interface Received {
  /**
   * Reads a byte.
   *
   * @param offset where
   * @return the byte
   */
  byte byteAt(int offset);

  /**
   * Copies bytes.
   *
   * @param offset where they are
   * @param to where they go
   * @param toOffset where in it
   * @param count how many
   */
  void copyTo(int offset, byte[] to, int toOffset, int count);

  /**
   * Copies bytes to the position of a buffer, and advances it.
   *
   * @param offset where they are
   * @param to where they go
   * @param count how many; at most what remains
   */
  void copyTo(int offset, ByteBuffer to, int count);

  /** Gives the bytes back. Does nothing if it is empty. */
  void release();
}

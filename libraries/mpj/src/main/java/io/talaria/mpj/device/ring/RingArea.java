// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import java.lang.foreign.MemorySegment;

/** Where the shared memory of a job comes from. Each rank has its own. */
public interface RingArea extends AutoCloseable {
  /** The ranks' pages. */
  MemorySegment pages();

  /**
   * Makes a ring, filled with zeros.
   *
   * @param from the writer, this rank
   * @param to the reader
   * @param bytes how long
   */
  MemorySegment create(int from, int to, long bytes);

  /**
   * Finds a ring that the writer has made.
   *
   * @param from the writer
   * @param to the reader, this rank
   */
  MemorySegment open(int from, int to);

  /** Name of the device that has its rings here. */
  String deviceName();

  @Override
  void close();
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import java.io.IOException;
import java.lang.foreign.Arena;
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

  /**
   * Makes memory that the ranks of the area can map, filled with zeros.
   *
   * @param name of it
   * @param bytes how long
   * @param arena closes the mapping, if it is one
   * @throws IOException if there is no room
   */
  MemorySegment createShared(String name, long bytes, Arena arena) throws IOException;

  /**
   * Maps what another rank has made.
   *
   * @param name of it
   * @param arena closes the mapping, if it is one
   * @throws IOException if it cannot be mapped
   */
  MemorySegment openShared(String name, Arena arena) throws IOException;

  /**
   * Removes a name.
   *
   * @param name of memory that all who need it have mapped
   */
  void removeShared(String name);

  /** Name of the device that has its rings here. */
  String deviceName();

  @Override
  void close();
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Shared memory between the threads of one JVM: what all ranks of a job have in common. It lives as
 * long as one of them refers to it.
 */
public final class ThreadHub {
  private final MemorySegment pages;
  private final ConcurrentHashMap<Long, MemorySegment> rings = new ConcurrentHashMap<>();

  /**
   * For a job.
   *
   * @param ranks how many
   */
  public ThreadHub(int ranks) {
    pages = Arena.ofAuto().allocate(RankPages.bytes(ranks), 4096);
  }

  private final ConcurrentHashMap<String, MemorySegment> shared = new ConcurrentHashMap<>();

  /** A rank's view of it. */
  public RingArea area() {
    return new Area();
  }

  private static long key(int from, int to) {
    return (long) from << 32 | to;
  }

  private final class Area implements RingArea {
    @Override
    public MemorySegment pages() {
      return pages;
    }

    @Override
    public MemorySegment create(int from, int to, long bytes) {
      MemorySegment ring = Arena.ofAuto().allocate(bytes, 64);
      rings.put(key(from, to), ring);
      return ring;
    }

    @Override
    public MemorySegment open(int from, int to) {
      return rings.remove(key(from, to));
    }

    @Override
    public MemorySegment createShared(String name, long bytes, Arena arena) {
      MemorySegment memory = Arena.ofAuto().allocate(bytes, 64);
      shared.put(name, memory);
      return memory;
    }

    @Override
    public MemorySegment openShared(String name, Arena arena) throws IOException {
      MemorySegment memory = shared.get(name);
      if (memory == null) {
        throw new NoSuchFileException(name);
      }
      return memory;
    }

    @Override
    public void removeShared(String name) {
      shared.remove(name);
    }

    @Override
    public String deviceName() {
      return "smdev";
    }

    @Override
    public void close() {}
  }
}

// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.RingLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The way to the own node: what goes in comes out. */
public final class LoopTrack extends MemoryTrack {
  private static final int MAX_GENERATIONS = 8;

  private final TrackOwner owner;

  /** By generation and priority. */
  private final AtomicReferenceArray<MemorySegment> rings =
      new AtomicReferenceArray<>(MAX_GENERATIONS * RingPair.COUNT);

  /**
   * Makes the rings of both priorities.
   *
   * @param capacity of the ring of each priority at most, in bytes
   */
  public LoopTrack(TrackOwner owner, int... capacity) {
    super(capacity);
    this.owner = owner;
    begin();
  }

  /** Both ends are here: what comes out is what went in. */
  @Override
  MemorySegment outMemory(int priority, int generation) {
    int capacity = ShmLayout.capacity(priority, generation, maxCapacity(priority));
    MemorySegment ring = Arena.ofAuto().allocate(RingLayout.bytes(capacity), 128);
    rings.set(generation * RingPair.COUNT + priority, ring);
    return ring;
  }

  @Override
  MemorySegment inMemory(int priority, int generation) {
    return rings.get(generation * RingPair.COUNT + priority);
  }

  @Override
  public String transport() {
    return "loop";
  }

  @Override
  public String reason() {
    return "this node itself";
  }

  @Override
  public SocketChannel session() {
    return null;
  }

  @Override
  public void wakePeer() {
    owner.wakePoller();
  }

  @Override
  void wakeSenders() {
    owner.wakeWaiters();
  }

  @Override
  public boolean pull() {
    return false;
  }

  @Override
  public boolean severed() {
    return false;
  }

  @Override
  public void close() {
    // The collector takes the memory.
  }
}

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

  /** By generation and lane. */
  private final AtomicReferenceArray<MemorySegment> rings =
      new AtomicReferenceArray<>(MAX_GENERATIONS * Lane.COUNT);

  /**
   * Makes both lanes.
   *
   * @param capacity of each lane at most, in bytes
   */
  public LoopTrack(TrackOwner owner, int... capacity) {
    super(capacity);
    this.owner = owner;
    begin();
  }

  /** Both ends are here: what comes out is what went in. */
  @Override
  MemorySegment outMemory(int lane, int generation) {
    int capacity = ShmLayout.capacity(lane, generation, maxCapacity(lane));
    MemorySegment ring = Arena.ofAuto().allocate(RingLayout.bytes(capacity), 128);
    rings.set(generation * Lane.COUNT + lane, ring);
    return ring;
  }

  @Override
  MemorySegment inMemory(int lane, int generation) {
    return rings.get(generation * Lane.COUNT + lane);
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

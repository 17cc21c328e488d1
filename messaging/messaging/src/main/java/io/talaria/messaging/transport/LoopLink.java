// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.RingLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The link of a node to itself: its incoming rings are its outgoing rings. */
public final class LoopLink extends MemoryLink {
  private static final int MAX_GENERATIONS = 8;

  private final LinkOwner owner;

  /** Indexed by generation and priority. */
  private final AtomicReferenceArray<MemorySegment> rings =
      new AtomicReferenceArray<>(MAX_GENERATIONS * RingPair.COUNT);

  /**
   * Creates the rings of both priorities.
   *
   * @param capacity the maximum capacity of the ring of each priority, in bytes
   */
  public LoopLink(LinkOwner owner, int... capacity) {
    super(capacity);
    this.owner = owner;
    begin();
  }

  /** Keeps the ring for {@link #inMemory}: both ends of a ring are in this object. */
  @Override
  MemorySegment outMemory(int priority, int generation) {
    int capacity = ShmLayout.capacity(priority, generation, maxCapacity(priority));
    try {
      MemorySegment ring = Arena.ofAuto().allocate(RingLayout.bytes(capacity), 128);
      rings.set(generation * RingPair.COUNT + priority, ring);
      return ring;
    } catch (OutOfMemoryError e) {
      if (generation == 0) {
        throw e;
      }
      return null;
    }
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
    // The garbage collector frees the memory.
  }
}

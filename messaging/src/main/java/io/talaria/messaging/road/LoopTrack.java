// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.road;

import io.talaria.messaging.ring.RingLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;

/** The way to the own node: what goes in comes out. */
public final class LoopTrack extends MemoryTrack {
  private final TrackOwner owner;

  /**
   * Makes both rings.
   *
   * @param capacity of each lane, in bytes
   */
  public LoopTrack(TrackOwner owner, int... capacity) {
    this.owner = owner;
    for (int lane = 0; lane < Lane.COUNT; lane++) {
      MemorySegment ring = Arena.ofAuto().allocate(RingLayout.bytes(capacity[lane]), 128);
      ends(lane, ring, ring, capacity[lane]);
    }
  }

  @Override
  public String road() {
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
